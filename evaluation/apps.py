from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    name = "evaluation"

    def ready(self) -> None:
        from evaluation.overview import box
        from projects.overview import register_box

        register_box("evaluation", box, stage="reports")
