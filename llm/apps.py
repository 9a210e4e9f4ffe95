from django.apps import AppConfig


class LlmConfig(AppConfig):
    name = "llm"

    def ready(self) -> None:
        from llm.instrument_preview import model_preview
        from llm.overview import box
        from materials.previews import register_preview
        from projects.overview import register_box

        register_box("llm", box, stage="answering", order=2)
        register_preview(model_preview)
