"""What can be taken out of a job and brought into it: downloads, results from elsewhere, bundles."""

from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import BinaryIO, cast

from django import forms
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.db.models import Exists, OuterRef, QuerySet
from django.http import FileResponse, Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from llm.files.bundle import write_bundle
from llm.files.bundle_import import BundleError, import_bundle
from llm.files.exports import EXPORTS, LedgerError, export_job
from llm.files.results_import import ImportedResults, ResultsRefusedError, import_results, write_requests
from llm.models import Call, Job
from llm.prompting.rendering import PromptError
from llm.querysets import project_jobs
from llm.running.generating import NoAnswersError, dataset_from_answers
from materials.importing import ImportRefusedError
from projects.access import MANAGERS, READERS, MemberRequest, project_view
from projects.models import Project
from responses.export import export_responses, table_lines
from responses.models import Response

LISTED_FAULTS = 500
MAX_UPLOAD_MEGABYTES = 500
CSV, JSONL = "text/csv; charset=utf-8", "application/x-ndjson"
ANSWERS = {"answers-csv": ("csv", CSV), "answers-jsonl": ("jsonl", JSONL)}
BUNDLES = {"bundle": False, "bundle-with-calls": True}


class UploadForm(forms.Form):
    file = forms.FileField(help_text=f"At most {MAX_UPLOAD_MEGABYTES} MB.")

    def clean_file(self) -> UploadedFile:
        file: UploadedFile = self.cleaned_data["file"]
        if (file.size or 0) > MAX_UPLOAD_MEGABYTES * 2**20:
            raise forms.ValidationError(
                f"The file is larger than {MAX_UPLOAD_MEGABYTES} MB; manage.py job takes any size."
            )
        return file

    @property
    def binary(self) -> BinaryIO:
        return cast(BinaryIO, self.cleaned_data["file"].file)


@project_view(*READERS)
def job_export(request: MemberRequest, project: Project, pk: int, what: str) -> HttpResponseBase:
    job = get_object_or_404(project_jobs(project), pk=pk)
    name = f"{project.slug}-job-{job.pk}"
    if what in BUNDLES:
        file = TemporaryFile(prefix="concord-bundle-")  # noqa: SIM115 - the response closes it
        write_bundle(job=job, file=file, calls=BUNDLES[what], by=request.user)
        file.seek(0)
        return FileResponse(file, as_attachment=True, filename=f"{name}.zip", content_type="application/zip")
    if what in ANSWERS:
        format, content_type = ANSWERS[what]
        table = export_responses(
            project=project, answers=answers_of(job), format=format, filters=f"job={job.pk}", by=request.user
        )
        return _streamed(table_lines(table, format), content_type, f"{name}-answers.{format}")
    if what not in EXPORTS:
        raise Http404
    try:
        lines = export_job(job=job, what=what, by=request.user)
    except LedgerError as error:
        messages.error(request, str(error))
        return redirect("job", slug=project.slug, pk=job.pk)
    return _streamed(lines, EXPORTS[what].content_type, f"{name}-{EXPORTS[what].ending}")


@require_POST
@project_view(*MANAGERS)
def job_requests(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """Have all requests written, so that they can be taken elsewhere."""
    job = get_object_or_404(project_jobs(project), pk=pk)
    try:
        write_requests(job=job, by=request.user)
    except PromptError as error:
        messages.error(request, str(error))
    else:
        if job.expanded:
            messages.success(request, "The requests are written; download them below.")
        else:
            messages.warning(request, "Nothing was written: pause the job first.")
    return redirect("job", slug=project.slug, pk=pk)


@require_POST
@project_view(*MANAGERS)
def job_results(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """Take in results that were made elsewhere; a page of its own says what is wrong with a file."""
    job = get_object_or_404(project_jobs(project), pk=pk)
    form = UploadForm(request.POST, request.FILES)
    imported: ImportedResults | None = None
    refusal: ResultsRefusedError | None = None
    if form.is_valid():
        try:
            imported = import_results(job=job, file=form.binary, by=request.user)
        except ResultsRefusedError as error:
            refusal = error
    if imported and not imported.unknown:
        messages.success(request, imported.words)
        return redirect("job", slug=project.slug, pk=pk)
    faults = (refusal.faults if refusal else imported.unknown if imported else [])[:LISTED_FAULTS]
    context = {
        "project": project, "nav": "models", "job": job, "form": form, "refusal": refusal, "imported": imported,
        "faults": faults,
    }  # fmt: skip
    return render(request, "llm/job_results.html", context, status=200 if imported else 422)


@require_POST
@project_view(*MANAGERS)
def job_dataset(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """Make what the model wrote the items of a dataset."""
    job = get_object_or_404(project_jobs(project), pk=pk)
    slug = request.POST.get("dataset", "").strip()
    try:
        made = dataset_from_answers(job=job, slug=slug, by=request.user)
    except NoAnswersError as error:
        messages.error(request, str(error))
    except ImportRefusedError as error:
        messages.error(request, f"No dataset was made: {error.faults[0]}")
    else:
        messages.success(request, f"{made.added:,} added, {made.unchanged:,} there already.")
        return redirect("dataset", slug=project.slug, dataset=made.dataset.slug)
    return redirect("job", slug=project.slug, pk=pk)


@project_view(*MANAGERS)
def job_bundle(request: MemberRequest, project: Project) -> HttpResponse:
    """A new job from a bundle."""
    posted = request.method == "POST"
    form = UploadForm(request.POST if posted else None, request.FILES if posted else None)
    if posted and form.is_valid():
        try:
            job = import_bundle(project=project, file=form.binary, by=request.user)
        except BundleError as error:
            form.add_error("file", str(error))
        else:
            messages.success(request, f"{job} is planned. Keys do not come along: look at its endpoint.")
            return redirect("job", slug=project.slug, pk=job.pk)
    context = {"project": project, "nav": "models", "form": form}
    return render(request, "llm/job_bundle.html", context, status=422 if form.errors else 200)


def answers_of(job: Job) -> QuerySet[Response]:
    """The standing answers to what the job asked, also those that an equal call of an earlier job had given."""
    same = {name: OuterRef(name) for name in ("item_id", "respondent_id", "condition_id", "sample")}
    calls = Call.objects.filter(job=job, status=Call.Status.OK, **same)
    answers = Response.objects.filter(project=job.project, instrument=job.instrument, superseded_by=None)
    return answers.filter(Exists(calls), question__in=[question.code for question in job.questions])


def _streamed(lines: Iterator[str], content_type: str, filename: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(lines, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{filename}"'
    return response
