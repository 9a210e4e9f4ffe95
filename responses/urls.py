from django.urls import path

from responses import export_views, item_views, views

urlpatterns = [
    path("", views.responses, name="responses"),
    path("download/", export_views.download, name="download_responses"),
    path("export.<str:format>", export_views.export, name="export_responses"),
    path("codebook.<str:format>", export_views.codebook, name="codebook"),
    path("items/<int:pk>/", item_views.item, name="item"),
]
