from django.urls import path

from llm import endpoint_views, prompt_views, views

urlpatterns = [
    path("", views.jobs, name="jobs"),
    path("jobs/new/", views.job_plan, name="job_plan"),
    path("jobs/<int:pk>/", views.job, name="job"),
    path("jobs/<int:pk>/live/", views.job_live, name="job_live"),
    path("jobs/<int:pk>/calls/", views.calls, name="calls"),
    path("jobs/<int:pk>/<slug:action>/", views.job_action, name="job_action"),
    path("calls/<int:pk>/", views.call, name="call"),
    path("endpoints/", endpoint_views.endpoints, name="endpoints"),
    path("endpoints/new/", endpoint_views.endpoint_new, name="endpoint_new"),
    path("endpoints/embedded/", endpoint_views.endpoint_embedded, name="endpoint_embedded"),
    path("endpoints/<int:pk>/", endpoint_views.endpoint, name="endpoint"),
    path("endpoints/<int:pk>/test/", endpoint_views.endpoint_test, name="endpoint_test"),
    path("prompts/", prompt_views.prompts, name="prompts"),
    path("prompts/new/", prompt_views.prompt_new, name="prompt_new"),
    path("prompts/<int:pk>/", prompt_views.prompt, name="prompt"),
    path("prompts/<int:pk>/changes/", prompt_views.prompt_changes, name="prompt_changes"),
]
