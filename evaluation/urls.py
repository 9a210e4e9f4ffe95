from django.urls import path

from evaluation import agreement_views, downloads, shared_views, views

urlpatterns = [
    path("", views.reports, name="reports"),
    path("new/", views.new_report, name="report_new"),
    path("<int:pk>/", views.report, name="report"),
    path("<int:pk>/build/", views.build, name="report_build"),
    path("<int:pk>/share/", shared_views.share, name="report_share"),
    path("<int:pk>/unshare/", shared_views.unshare, name="report_unshare"),
    path("<int:pk>/report.html", downloads.document, name="report_document"),
    path("<int:pk>/bundle.zip", downloads.bundle, name="report_bundle"),
    path("<int:pk>/tables/<slug:code>.<slug:format>", downloads.table, name="report_table"),
    path("<int:pk>/figures/<slug:code>.<slug:format>", downloads.figure, name="report_figure"),
    path("labelling/<slug:label>/agreement/", agreement_views.label_agreement, name="label_agreement"),
    path(
        "labelling/<slug:label>/agreement.<slug:format>",
        agreement_views.label_agreement_figure,
        name="label_agreement_figure",
    ),
    path("labelling/<slug:label>/labels/", agreement_views.label_labels, name="label_labels"),
    path("labelling/<slug:label>/labels.<slug:format>", agreement_views.label_labels_file, name="label_labels_file"),
]
