from django.apps import AppConfig


class ResponsesConfig(AppConfig):
    name = "responses"
