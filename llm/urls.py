from django.urls import path

from llm.pages import call_views, control_views, endpoint_views, export_views, job_views, prompt_views

urlpatterns = [
    path("", job_views.jobs, name="jobs"),
    path("jobs/new/", job_views.job_plan, name="job_plan"),
    path("jobs/<int:pk>/", job_views.job, name="job"),
    path("jobs/<int:pk>/live/", job_views.job_live, name="job_live"),
    path("jobs/<int:pk>/findings/", job_views.job_findings_page, name="job_findings"),
    path("jobs/<int:pk>/calls/", call_views.calls, name="calls"),
    path("jobs/<int:pk>/compare/", call_views.job_compare, name="job_compare"),
    path("jobs/<int:pk>/budget/", control_views.job_budget, name="job_budget"),
    path("jobs/<int:pk>/concurrency/", control_views.job_concurrency, name="job_concurrency"),
    path("jobs/bundle/", export_views.job_bundle, name="job_bundle"),
    path("jobs/<int:pk>/export/<slug:what>/", export_views.job_export, name="job_export"),
    path("jobs/<int:pk>/requests/", export_views.job_requests, name="job_requests"),
    path("jobs/<int:pk>/dataset/", export_views.job_dataset, name="job_dataset"),
    path("jobs/<int:pk>/results/", export_views.job_results, name="job_results"),
    path("jobs/<int:pk>/<slug:action>/", control_views.job_action, name="job_action"),
    path("calls/<int:pk>/", call_views.call, name="call"),
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
