"""The platform's pages for researchers, and the address to which it sends its messages."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST

from projects.access import MANAGERS, READERS, MemberRequest, project_view
from projects.models import Project
from studies.models import PlatformAccount, Study
from studies.platform_forms import AccountForm, ConnectionForm, ListForm, SubmissionsForm
from studies.platform_news import FileFaultsError
from studies.platform_pages import GROUPS, list_context, study_lists, submission_rows
from studies.platform_signatures import SignatureError
from studies.services.platform_accounts import AccountError, connect_study, save_account
from studies.services.platform_actions import (
    PlanError,
    confirm_list,
    discard_list,
    plan_list,
    resend_list,
    settle_list,
)
from studies.services.platform_messages import receive_message
from studies.services.platform_sync import ask_for_pull, connected_studies, import_submissions, last_pull

ROWS_A_PAGE = 500
MOST_MESSAGE_BYTES = 2**16


@csrf_exempt
@require_POST
def platform_message(request: HttpRequest, key: str) -> HttpResponse:
    """Takes a signed message in. 204 for one that is taken or known, 401 for one that the platform did not sign."""
    account = PlatformAccount.objects.filter(webhook_key=key).first()
    if account is None or len(request.body) > MOST_MESSAGE_BYTES:
        return HttpResponse(status=404 if account is None else 413)
    try:
        receive_message(account=account, headers=request.headers, body=request.body, now=timezone.now())
    except SignatureError as error:
        return HttpResponse(str(error), status=401, content_type="text/plain")
    return HttpResponse(status=204)


@require_GET
@project_view(*MANAGERS)
def platform_accounts(request: MemberRequest, project: Project) -> HttpResponse:
    accounts = PlatformAccount.objects.filter(project=project).prefetch_related("studies").order_by("name")
    return render(request, "studies/platform_accounts.html", _context(project) | {"accounts": accounts})


@project_view(*MANAGERS)
def platform_account_new(request: MemberRequest, project: Project) -> HttpResponse:
    return _edit(request, project, None)


@project_view(*MANAGERS)
def platform_account(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    return _edit(request, project, get_object_or_404(PlatformAccount, project=project, pk=pk))


def _edit(request: MemberRequest, project: Project, account: PlatformAccount | None) -> HttpResponse:
    posted = request.POST if request.method == "POST" else None
    form = AccountForm(posted, initial={"name": account.name} if account else None, new=account is None)
    if posted is not None and form.is_valid():
        try:
            saved = save_account(project=project, account=account, by=request.user, **form.cleaned_data)
        except AccountError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"{saved.name} is saved.")
            return redirect("platform_account", slug=project.slug, pk=saved.pk)
    context: dict[str, Any] = {"form": form, "account": account}
    if account:
        address = reverse("platform_message", kwargs={"key": account.webhook_key})
        context["address"] = request.build_absolute_uri(address)
    status = 422 if form.errors else 200
    return render(request, "studies/platform_account.html", _context(project) | context, status=status)


@require_GET
@project_view(*READERS)
def study_platform(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """Submissions by pseudonym, where they stand differently there and here, and what can be done about it."""
    return _show_submissions(request, _study(project, pk))


def _show_submissions(
    request: MemberRequest, study: Study, chosen: set[int] | None = None, **forms: Form
) -> HttpResponse:
    """The page, with a form that has faults and the submissions that were chosen in it, if there are such."""
    group = next((group for group in GROUPS if group.name == request.GET.get("show")), GROUPS[0])
    rows = [(row, row.groups) for row in submission_rows(study)]
    shown = Paginator([row for row, groups in rows if group.name in groups], ROWS_A_PAGE)
    page = shown.get_page(request.GET.get("page"))
    context = {
        "study": study,
        "may_manage": request.role in MANAGERS,
        "group": group,
        "chosen": chosen if chosen is not None else {row.submission.pk for row in page if group.kind},
        "groups": [(each, sum(each.name in groups for _, groups in rows)) for each in GROUPS],
        "page": page,
        "lists": list(study_lists(study)),
        "pulled": last_pull(study),
        "list_form": ListForm(initial={"kind": group.kind}),
        "file_form": SubmissionsForm(),
    }
    faulty = any(form.errors for form in forms.values())
    context |= forms | {"form": next(iter(forms.values()), None)}
    return render(request, "studies/platform.html", _context(study.project) | context, status=422 if faulty else 200)


@project_view(*MANAGERS)
def study_connection(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    study = _study(project, pk)
    form = ConnectionForm(request.POST if request.method == "POST" else None, instance=study)
    if request.method == "POST" and form.is_valid():
        chosen = form.cleaned_data
        try:
            connect_study(
                study=study,
                account=chosen["platform_account"],
                platform_study_id=chosen["platform_study_id"],
                signed_entry=chosen["signed_entry"],
                by=request.user,
            )
        except AccountError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "The connection is saved.")
            return _back(study)
    context = {"study": study, "form": form, "has_accounts": project.platform_accounts.exists()}
    status = 422 if form.errors else 200
    return render(request, "studies/platform_connection.html", _context(project) | context, status=status)


@require_POST
@project_view(*MANAGERS)
def study_pull(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    study = _study(project, pk)
    if connected_studies().filter(pk=pk).exists():
        ask_for_pull(study)
        messages.success(request, "The platform is being asked; load this page again in a moment.")
    else:
        messages.error(request, "Prolific is not asked: the study is not connected, or its platform ids are deleted.")
    return _back(study)


@require_POST
@project_view(*MANAGERS)
def study_submissions_file(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    study, form = _study(project, pk), SubmissionsForm(request.POST, request.FILES)
    if not form.is_valid():
        return _show_submissions(request, study, file_form=form)
    try:
        taken = import_submissions(study=study, content=form.cleaned_data["file"].read(), by=request.user)
    except FileFaultsError as error:
        form.add_error("file", error.faults)
        return _show_submissions(request, study, file_form=form)
    messages.success(request, str(taken))
    return _back(study)


@require_POST
@project_view(*MANAGERS)
def study_list_new(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    study, form = _study(project, pk), ListForm(request.POST)
    chosen = {int(value) for value in request.POST.getlist("submission") if value.isdecimal() and len(value) < 19}
    if not form.is_valid():
        return _show_submissions(request, study, chosen=chosen, list_form=form)
    try:
        planned = plan_list(study=study, submissions=chosen, by=request.user, **form.cleaned_data)
    except PlanError as error:
        form.add_error(None, str(error))
        return _show_submissions(request, study, chosen=chosen, list_form=form)
    if planned.left_out:
        sentence = (
            "{} of the chosen are left out: they do not stand so that this can be done, or it is on a list already."
        )
        messages.warning(request, sentence.format(planned.left_out))
    return redirect("study_list", slug=project.slug, pk=pk, batch=planned.batch)


@require_GET
@project_view(*READERS)
def study_list(request: MemberRequest, project: Project, pk: int, batch: UUID) -> HttpResponse:
    """A list before it is confirmed, with its total, and afterwards what became of each action."""
    study = _study(project, pk)
    found = list_context(study, batch)
    if not found:
        raise Http404
    context = found | {"study": study, "batch": batch, "may_manage": request.role in MANAGERS}
    return render(request, "studies/platform_list.html", _context(project) | context)


@require_POST
@project_view(*MANAGERS)
def study_list_action(request: MemberRequest, project: Project, pk: int, batch: UUID, action: str) -> HttpResponse:
    """confirm, discard, send (what was confirmed and could not be sent), done or not_done (what was not answered)."""
    study = _study(project, pk)
    try:
        sentence = _act(study, batch, action, request)
    except PlanError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, sentence)
    if action == "discard":
        return _back(study)
    return redirect("study_list", slug=project.slug, pk=pk, batch=batch)


def _act(study: Study, batch: UUID, action: str, request: MemberRequest) -> str:
    if action == "confirm":
        confirmed = confirm_list(study=study, batch=batch, by=request.user)
        return f"{confirmed} confirmed; they are being sent." if confirmed else "The list was confirmed before."
    if action == "discard":
        return "The list is discarded." if discard_list(study=study, batch=batch) else "It was confirmed before."
    if action == "send":
        waiting = resend_list(study=study, batch=batch)
        return f"{waiting} are being sent." if waiting else "Nothing is left to be sent."
    if action in ("done", "not_done"):
        settled = settle_list(study=study, batch=batch, done=action == "done", by=request.user)
        return f"{settled} settled."
    raise Http404


def _back(study: Study) -> HttpResponse:
    return redirect("study_platform", slug=study.project.slug, pk=study.pk)


def _context(project: Project) -> dict[str, Any]:
    return {"project": project, "nav": "studies"}


def _study(project: Project, pk: int) -> Study:
    return get_object_or_404(
        Study.objects.select_related("project", "platform_account", "instrument", "dataset"), project=project, pk=pk
    )
