"""The members page: who is in the project, with which role."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from projects import services
from projects.access import MemberRequest, project_view
from projects.forms import MemberForm, RoleForm
from projects.models import Project, Role


@project_view(Role.OWNER)
def members(request: MemberRequest, project: Project) -> HttpResponse:
    form = MemberForm(request.POST if request.method == "POST" else None, project=project)
    if request.method == "POST" and form.is_valid():
        user = form.cleaned_data["username"]
        services.set_member(project=project, user=user, role=form.cleaned_data["role"], by=request.user)
        messages.success(request, f"{user} is a member now.")
        return redirect("members", slug=project.slug)
    context = {
        "project": project,
        "nav": "overview",
        "form": form,
        "roles": Role.choices,
        "memberships": project.memberships.select_related("user").order_by("user__username"),
        "events": project.audit_events.select_related("user")[:50],
    }
    return render(request, "projects/members.html", context, status=422 if form.errors else 200)


@require_POST
@project_view(Role.OWNER)
def change_role(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    membership = get_object_or_404(project.memberships.select_related("user"), pk=pk)
    form = RoleForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose one of the roles in the list.")
        return redirect("members", slug=project.slug)
    try:
        services.set_member(project=project, user=membership.user, role=form.cleaned_data["role"], by=request.user)
        messages.success(request, f"{membership.user} has the role {form.cleaned_data['role']} now.")
    except services.LastOwnerError as error:
        messages.error(request, str(error))
    return _back(request, project)


@require_POST
@project_view(Role.OWNER)
def remove(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    membership = get_object_or_404(project.memberships.select_related("user"), pk=pk)
    try:
        services.remove_member(project=project, user=membership.user, by=request.user)
        messages.success(request, f"{membership.user} is no longer a member.")
    except services.LastOwnerError as error:
        messages.error(request, str(error))
    return _back(request, project)


def _back(request: MemberRequest, project: Project) -> HttpResponse:
    """To the members, or home for an owner who has just given up their own right to see them."""
    still_owner = project.memberships.filter(user_id=request.user.pk, role=Role.OWNER).exists()
    return redirect("members", slug=project.slug) if still_owner else redirect("projects")
