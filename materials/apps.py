from django.apps import AppConfig


class MaterialsConfig(AppConfig):
    name = "materials"

    def ready(self) -> None:
        from materials.overview import box
        from projects.overview import register_box

        register_box("materials", box, stage="materials")
