from django.urls import path

from studies import platform_views as views

urlpatterns = [
    path("platform/", views.platform_accounts, name="platform_accounts"),
    path("platform/new/", views.platform_account_new, name="platform_account_new"),
    path("platform/<int:pk>/", views.platform_account, name="platform_account"),
    path("<int:pk>/platform/", views.study_platform, name="study_platform"),
    path("<int:pk>/platform/connection/", views.study_connection, name="study_connection"),
    path("<int:pk>/platform/pull/", views.study_pull, name="study_pull"),
    path("<int:pk>/platform/file/", views.study_submissions_file, name="study_submissions_file"),
    path("<int:pk>/platform/lists/", views.study_list_new, name="study_list_new"),
    path("<int:pk>/platform/lists/<uuid:batch>/", views.study_list, name="study_list"),
    path("<int:pk>/platform/lists/<uuid:batch>/<slug:action>/", views.study_list_action, name="study_list_action"),
]
