"""The researcher's page of the people of a labelling project."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from annotation import services
from annotation.forms import MemberForm, MembersForm, faults_of
from annotation.models import KnownAnswer, LabelMember
from annotation.setup_rows import member_rows
from annotation.setup_views import setup_context
from annotation.views import find
from projects.access import MANAGERS, MemberRequest, project_view
from projects.models import Project


@project_view(*MANAGERS)
def label_members(request: MemberRequest, project: Project, label: str) -> HttpResponse:
    """Who was named or has begun, and a form to name others."""
    label_project = find(project, label)
    form = MembersForm(request.POST if request.method == "POST" else None, label_project=label_project)
    if request.method == "POST" and form.is_valid():
        made = services.name_members(label_project=label_project, by=request.user, **form.cleaned_data)
        messages.success(request, f"{made} {'person' if made == 1 else 'people'} may label.")
        return redirect("label_members", slug=project.slug, label=label)
    context = setup_context(label_project, "members") | {
        "form": form,
        "members": member_rows(label_project),
        "trains": label_project.known_answers.filter(purpose=KnownAnswer.Purpose.TRAINING).exists(),
        "suggests": label_project.suggestions != label_project.Suggestions.NONE,
    }
    return render(request, "annotation/members.html", context, status=422 if form.errors else 200)


@require_POST
@project_view(*MANAGERS)
def label_member(request: MemberRequest, project: Project, label: str, pk: int) -> HttpResponse:
    """Change one person: their number of items and suggestions, the end of a pause, or a failed training."""
    members = LabelMember.objects.select_related("label_project__project", "user")
    member = get_object_or_404(members, pk=pk, label_project=find(project, label))
    action = request.POST.get("action", "")
    if action == "resume":
        services.set_member_status(member=member, status="active", by=request.user)
        messages.success(request, f"{member.user} may label again.")
    elif action == "let_on":
        services.let_on(member=member, by=request.user)
        messages.success(request, f"{member.user} may label without having passed the training.")
    elif (form := MemberForm(request.POST)).is_valid():
        services.change_member(member=member, by=request.user, **form.cleaned_data)
        messages.success(request, f"The settings of {member.user} are saved.")
    else:
        messages.error(request, f"{member.user}, items at most: {faults_of(form)}")
    return redirect("label_members", slug=project.slug, label=label)
