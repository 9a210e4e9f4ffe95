from django.apps import AppConfig


class LlmConfig(AppConfig):
    name = "llm"

    def ready(self) -> None:
        from llm.overview import box
        from projects.overview import register_box

        register_box("llm", box, stage="answering", order=2)
