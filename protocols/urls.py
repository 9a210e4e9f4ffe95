from django.urls import path

from protocols import people_views, views

urlpatterns = [
    path("", views.protocols, name="protocols"),
    path("start/", views.start, name="protocol_start"),
    path("people/", people_views.people_study, name="people_study"),
    path("<int:pk>/", views.protocol, name="protocol"),
    path("<int:pk>/files/<slug:source>/", views.give_file, name="protocol_file"),
    path("<int:pk>/<slug:stage>/settings/", views.set_settings, name="protocol_settings"),
    path("<int:pk>/<slug:stage>/run/", views.run_stage, name="protocol_run"),
    path("<int:pk>/<slug:stage>/collect/", views.collect, name="protocol_collect"),
]
