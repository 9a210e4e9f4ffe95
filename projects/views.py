"""Home, the project's overview, a person's own password, and the style guide."""

from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import PasswordChangeView
from django.contrib.messages.views import SuccessMessageMixin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy

from projects import overview
from projects.access import EVERY_ROLE, MemberRequest, UserRequest, project_view
from projects.models import Membership, Project, Role
from projects.styleguide import styleguide_context


class PasswordChange(SuccessMessageMixin, PasswordChangeView):
    template_name = "registration/password_change.html"
    success_url = reverse_lazy("home")
    success_message = "Your password is changed."


@login_required
def home(request: UserRequest) -> HttpResponse:
    """The person's projects; straight to the project when there is one."""
    memberships = list(Membership.objects.filter(user=request.user).select_related("project").order_by("project__name"))
    if len(memberships) == 1:
        return redirect("project", slug=memberships[0].project.slug)
    return render(request, "projects/home.html", {"memberships": memberships})


@project_view(*EVERY_ROLE)
def project(request: MemberRequest, project: Project) -> HttpResponse:
    """The flow of the project's data. Annotators have no use for it and go to their work."""
    if request.role == Role.ANNOTATOR:
        return redirect("labelling", slug=project.slug)
    context = {"project": project, "nav": "overview", "flow": overview.flow(project)}
    return render(request, "projects/overview.html", context)


def styleguide(request: HttpRequest) -> HttpResponse:
    return render(request, "styleguide/index.html", styleguide_context())
