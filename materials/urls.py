from django.urls import path

from materials import import_views, instrument_views, views

urlpatterns = [
    path("", views.datasets, name="datasets"),
    path("import/", import_views.upload, name="import_items"),
    path("import/<int:pk>/", import_views.run_page, name="import_run"),
    path("import/<int:pk>/columns/", import_views.columns, name="import_columns"),
    path("import/<int:pk>/live/", import_views.live, name="import_live"),
    path("import/<int:pk>/faults.csv", import_views.faults, name="import_faults"),
    path("import/<int:pk>/plan.json", import_views.plan, name="import_plan"),
    path("import/<int:pk>/<slug:action>/", import_views.act, name="import_action"),
    path("datasets/<slug:dataset>/", views.dataset, name="dataset"),
    path("instruments/", instrument_views.instruments, name="instruments"),
    path("instruments/new/", instrument_views.instrument_new, name="instrument_new"),
    path("instruments/<int:pk>/", instrument_views.instrument, name="instrument"),
]
