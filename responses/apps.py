from django.apps import AppConfig


class ResponsesConfig(AppConfig):
    name = "responses"

    def ready(self) -> None:
        from responses.overview import box
        from projects.overview import register_box

        register_box("responses", box, stage="responses")
