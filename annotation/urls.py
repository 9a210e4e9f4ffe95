from django.urls import path

from annotation import views, work_views

urlpatterns = [
    path("", views.labelling, name="labelling"),
    path("new/", views.label_project_new, name="label_project_new"),
    path("<slug:label>/", views.label_project, name="label_project"),
    path("<slug:label>/status/", views.label_status, name="label_status"),
    path("<slug:label>/work/", work_views.work, name="label_work"),
    path("<slug:label>/work/guidelines/", work_views.guidelines, name="label_guidelines"),
    path("<slug:label>/work/<int:pk>/", work_views.assignment, name="label_assignment"),
    path("<slug:label>/work/<int:pk>/draft/", work_views.draft, name="label_draft"),
    path("<slug:label>/work/<int:pk>/skip/", work_views.skip, name="label_skip"),
    path("<slug:label>/work/<int:pk>/flag/", work_views.flag, name="label_flag"),
]
