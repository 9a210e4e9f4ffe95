from django.urls import path

from materials import instrument_views, views

urlpatterns = [
    path("", views.datasets, name="datasets"),
    path("import/", views.import_page, name="import_items"),
    path("datasets/<slug:dataset>/", views.dataset, name="dataset"),
    path("instruments/", instrument_views.instruments, name="instruments"),
    path("instruments/new/", instrument_views.instrument_new, name="instrument_new"),
    path("instruments/<int:pk>/", instrument_views.instrument, name="instrument"),
]
