"""Home, the project's overview, a person's own password, and the style guide."""

from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import PasswordChangeView
from django.contrib.messages.views import SuccessMessageMixin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy

from projects import overview
from projects.access import EVERY_ROLE, MemberRequest, UserRequest, may_create_project, project_view
from projects.forms import ProjectForm
from projects.models import Membership, Project, Role
from projects.services import create_project
from projects.styleguide import styleguide_context


class PasswordChange(SuccessMessageMixin, PasswordChangeView):
    template_name = "registration/password_change.html"
    success_url = reverse_lazy("home")
    success_message = "Your password is changed."


@login_required
def home(request: UserRequest) -> HttpResponse:
    """Straight to the person's project when there is one, else to the list."""
    slugs = Project.objects.for_user(request.user).values_list("slug", flat=True)[:2]
    return redirect("project", slug=slugs[0]) if len(slugs) == 1 else redirect("projects")


@login_required
def projects(request: UserRequest) -> HttpResponse:
    memberships = Membership.objects.filter(user=request.user).select_related("project").order_by("project__name")
    context = {"memberships": memberships, "may_create": may_create_project(request.user)}
    return render(request, "projects/projects.html", context)


@login_required
def project_new(request: UserRequest) -> HttpResponse:
    if not may_create_project(request.user):
        raise PermissionDenied
    form = ProjectForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        made = create_project(**form.cleaned_data, by=request.user)
        return redirect("project", slug=made.slug)
    return render(request, "projects/project_new.html", {"form": form}, status=422 if form.is_bound else 200)


@project_view(*EVERY_ROLE)
def project(request: MemberRequest, project: Project) -> HttpResponse:
    """The flow of the project's data. Annotators have no use for it and go to their work."""
    if request.role == Role.ANNOTATOR:
        return redirect("labelling", slug=project.slug)
    context = {"project": project, "nav": "overview", "flow": overview.flow(project)}
    return render(request, "projects/overview.html", context)


def styleguide(request: HttpRequest) -> HttpResponse:
    return render(request, "styleguide/index.html", styleguide_context())
