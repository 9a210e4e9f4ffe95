from django.apps import AppConfig


class ProtocolsConfig(AppConfig):
    name = "protocols"
