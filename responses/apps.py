from django.apps import AppConfig


class ResponsesConfig(AppConfig):
    name = "responses"

    def ready(self) -> None:
        from projects.overview import register_box
        from responses.overview import box

        register_box("responses", box, stage="responses")
