from django.urls import include, path

from studies import export_views, running_views, views

urlpatterns = [
    path("", views.studies, name="studies"),
    path("", include("studies.platform_urls")),
    path("instruments/draft/", views.instrument_draft, name="instrument_draft"),
    path("instruments/<int:pk>/", views.instrument_participant, name="instrument_participant"),
    path("<int:pk>/", views.study, name="study"),
    path("", include("studies.design_urls")),
    path("<int:pk>/open/", views.study_open, name="study_open"),
    path("<int:pk>/close/", views.study_close, name="study_close"),
    path("<int:pk>/sessions/", running_views.study_sessions, name="study_sessions"),
    path("<int:pk>/sessions/<int:number>/", running_views.study_session, name="study_session"),
    path("<int:pk>/delete-person/", running_views.study_delete_person, name="study_delete_person"),
    path("<int:pk>/deleted/<int:event>/", running_views.study_receipt, name="study_receipt"),
    path("<int:pk>/retention/", running_views.study_retention, name="study_retention"),
    path("<int:pk>/exports/", export_views.study_exports, name="study_exports"),
    path("<int:pk>/exports/<str:name>", export_views.study_export, name="study_export"),
    path("<int:pk>/preview/<int:position>/", views.study_preview, name="study_preview"),
]
