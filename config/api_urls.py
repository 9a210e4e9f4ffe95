"""The REST interface: what exists, explicitly listed."""

from django.urls import path
from drf_spectacular.views import SpectacularAPIView

from annotation import api as annotation
from evaluation import api as evaluation
from llm import api as llm
from materials import api as materials
from projects import api as projects
from responses import api as responses
from studies import api as studies

LISTS = {
    "schema": "api_schema",
    "about": "api_project",
    "datasets": "api_datasets",
    "instruments": "api_instruments",
    "responses": "api_responses",
    "label_projects": "api_label_projects",
    "studies": "api_studies",
    "jobs": "api_jobs",
    "reports": "api_reports",
}
urlpatterns = [
    path("", projects.IndexView.as_view(lists=LISTS), name="api_index"),
    path("schema/", SpectacularAPIView.as_view(), name="api_schema"),
    path("project/", projects.ProjectView.as_view(), name="api_project"),
    path("datasets/", materials.DatasetsView.as_view(), name="api_datasets"),
    path("datasets/<slug:slug>/", materials.DatasetView.as_view(), name="api_dataset"),
    path("datasets/<slug:slug>/items/", materials.ItemsView.as_view(), name="api_items"),
    path("items/<int:pk>/", materials.ItemView.as_view(), name="api_item"),
    path("instruments/", materials.InstrumentsView.as_view(), name="api_instruments"),
    path("instruments/<int:pk>/", materials.InstrumentView.as_view(), name="api_instrument"),
    path("responses/", responses.ResponsesView.as_view(), name="api_responses"),
    path("label-projects/", annotation.LabelProjectsView.as_view(), name="api_label_projects"),
    path("label-projects/<slug:slug>/", annotation.LabelProjectView.as_view(), name="api_label_project"),
    path("studies/", studies.StudiesView.as_view(), name="api_studies"),
    path("studies/<int:pk>/", studies.StudyView.as_view(), name="api_study"),
    path("jobs/", llm.JobsView.as_view(), name="api_jobs"),
    path("jobs/<int:pk>/", llm.JobView.as_view(), name="api_job"),
    path("reports/", evaluation.ReportsView.as_view(), name="api_reports"),
    path("reports/<int:pk>/", evaluation.ReportView.as_view(), name="api_report"),
]
