from django.urls import path

from studies import design_views, preregistration_views, translation_views

urlpatterns = [
    path("new/", design_views.study_new, name="study_new"),
    path("new/file/", design_views.study_from_file, name="study_from_file"),
    path("<int:pk>/edit/", design_views.study_edit, name="study_edit"),
    path("<int:pk>/languages/", translation_views.study_languages, name="study_languages"),
    path("<int:pk>/languages/<str:language>/", translation_views.study_language, name="study_language"),
    path("<int:pk>/design/", design_views.study_design, name="study_design"),
    path("<int:pk>/new-version/", design_views.study_new_version, name="study_new_version"),
    path("<int:pk>/file/", design_views.study_file, name="study_file"),
    path("<int:pk>/preregister/", preregistration_views.study_preregister, name="study_preregister"),
    path("<int:pk>/preregistrations/<int:record>/", preregistration_views.preregistration, name="preregistration"),
    path(
        "<int:pk>/preregistrations/<int:record>/file/",
        preregistration_views.preregistration_file,
        name="preregistration_file",
    ),
]
