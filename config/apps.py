from django.apps import AppConfig


class ConfigConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        # shared_task finds its application only when the Celery app has been imported.
        from config import celery  # noqa: F401
