from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        from annotation.overview import box
        from projects.overview import register_box

        register_box("annotation", box, stage="answering")
