from django.urls import path

from evaluation import shared_views

urlpatterns = [
    path("<slug:key>/", shared_views.report, name="shared_report"),
    path("<slug:key>/report.html", shared_views.document, name="shared_document"),
    path("<slug:key>/tables/<slug:code>.<slug:format>", shared_views.table, name="shared_table"),
    path("<slug:key>/figures/<slug:code>.<slug:format>", shared_views.figure, name="shared_figure"),
]
