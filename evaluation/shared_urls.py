from django.urls import path

from evaluation import shared_views

urlpatterns = [
    path("<str:key>/", shared_views.report, name="shared_report"),
    path("<str:key>/report.html", shared_views.document, name="shared_document"),
    path("<str:key>/tables/<slug:code>.<slug:format>", shared_views.table, name="shared_table"),
    path("<str:key>/figures/<slug:code>.<slug:format>", shared_views.figure, name="shared_figure"),
]
