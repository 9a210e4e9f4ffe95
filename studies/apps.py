from django.apps import AppConfig


class StudiesConfig(AppConfig):
    name = "studies"

    def ready(self) -> None:
        from studies.overview import box
        from projects.overview import register_box

        register_box("studies", box, stage="answering", order=1)
