from django.apps import AppConfig


class StudiesConfig(AppConfig):
    name = "studies"

    def ready(self) -> None:
        from projects.overview import register_box
        from studies.overview import box

        register_box("studies", box, stage="answering", order=1)
