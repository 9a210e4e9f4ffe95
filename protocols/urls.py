from django.urls import path

from protocols import people_views, table_views, views

urlpatterns = [
    path("", views.protocols, name="protocols"),
    path("start/", views.start, name="protocol_start"),
    path("people/", people_views.people_study, name="people_study"),
    path("tables/<slug:dataset>/", table_views.table, name="protocol_table"),
    path("tables/<slug:dataset>.csv", table_views.table_csv, name="protocol_table_csv"),
    path("<int:pk>/", views.protocol, name="protocol"),
    path("<int:pk>/shipped/", views.use_shipped_files, name="protocol_shipped"),
    path("<int:pk>/files/<slug:source>/", views.give_file, name="protocol_file"),
    path("<int:pk>/<slug:stage>/settings/", views.set_settings, name="protocol_settings"),
    path("<int:pk>/<slug:stage>/run/", views.run_stage, name="protocol_run"),
    path("<int:pk>/<slug:stage>/collect/", views.collect, name="protocol_collect"),
]
