from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        from annotation.exports import assignment_details
        from annotation.overview import box
        from projects.overview import register_box
        from responses.models import SourceKind
        from responses.sources import register_details

        register_box("annotation", box, stage="answering")
        register_details(SourceKind.ASSIGNMENT, **assignment_details())
