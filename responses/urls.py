from django.urls import path

from responses import item_views, views

urlpatterns = [
    path("", views.responses, name="responses"),
    path("export.<str:format>", views.export, name="export_responses"),
    path("items/<int:pk>/", item_views.item, name="item"),
]
