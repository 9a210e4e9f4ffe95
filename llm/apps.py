from django.apps import AppConfig


class LlmConfig(AppConfig):
    name = "llm"

    def ready(self) -> None:
        from llm.overview import box
        from llm.prompting.instrument_preview import model_preview
        from llm.stored_shares import stored_shares
        from materials.previews import register_preview
        from projects.overview import register_box
        from responses.uncertainty import register_shares

        register_box("llm", box, stage="answering", order=2)
        register_preview(model_preview)
        register_shares(stored_shares)
