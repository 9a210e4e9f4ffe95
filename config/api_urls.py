"""The REST interface: what exists, explicitly listed."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
