"""Downloads of a labelling project's answers."""

from django.http import HttpResponse, HttpResponseBase
from django.urls import reverse

from annotation.exports import answers_of
from annotation.setup_views import setup_context
from annotation.views import find
from projects.access import READERS, MemberRequest, project_view
from projects.models import Project
from responses.export_views import Addresses, answers_file, codebook_file, panel
from responses.filters import query_string


@project_view(*READERS)
def label_download(request: MemberRequest, project: Project, label: str) -> HttpResponse:
    label_project = find(project, label)
    context = setup_context(label_project, "download")
    at = {"slug": project.slug, "label": label}
    addresses = Addresses("label_download", "label_export", "label_codebook", at)
    return panel(request, "annotation/download.html", answers_of(label_project), addresses, context)


@project_view(*READERS)
def label_export(request: MemberRequest, project: Project, label: str, format: str) -> HttpResponseBase:
    answers, given = answers_of(find(project, label)), f"label_project={label}&{query_string(request.GET)}"
    at, name = reverse("label_download", kwargs={"slug": project.slug, "label": label}), f"{project.slug}-{label}"
    return answers_file(request, project, answers, format, panel_url=at, name=name, filters=given.rstrip("&"))


@project_view(*READERS)
def label_codebook(request: MemberRequest, project: Project, label: str, format: str) -> HttpResponse:
    answers = answers_of(find(project, label))
    return codebook_file(request, project, answers, format, name=f"{project.slug}-{label}-codebook")
