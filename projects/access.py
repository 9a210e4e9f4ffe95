"""The one place where a request is let into a project."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase

from projects.models import Membership, Project, Role, User

MANAGERS = (Role.OWNER, Role.RESEARCHER)
READERS = (*MANAGERS, Role.VIEWER)
EVERY_ROLE = tuple(Role)

View = Callable[..., HttpResponseBase]
Find = Callable[..., tuple[str, Any] | None]


class UserRequest(HttpRequest):
    """The type of a request of somebody who is logged in."""

    user: User


class MemberRequest(UserRequest):
    """The type of a request that project_view has let in."""

    role: Role


def may_create_project(user: User) -> bool:
    """Owners and researchers of any project, and staff; annotators and viewers are here for others' projects."""
    return user.is_staff or Membership.objects.filter(user=user, role__in=MANAGERS).exists()


def _project(user_id: int, slug: str, **_: Any) -> tuple[str, Project] | None:
    memberships = Membership.objects.select_related("project").filter(project__slug=slug, user_id=user_id)
    membership = memberships.first()
    return (membership.role, membership.project) if membership else None


def project_view(*roles: Role, find: Find = _project) -> Callable[[View], View]:
    """Give the view the project named by `slug`, when the person has one of these roles in it.

    Who is not logged in goes to the log-in page. Somebody outside the project gets 404, so that names of projects do
    not leak; a member without the role gets 403.
    The view is called as view(request, project, **other_url_arguments); `request.role` holds the role. A `find` that
    takes what the project is found by gives the role and something of the project instead; None is for outside.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def inner(request: MemberRequest, slug: str, **kwargs: Any) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return _ask_to_log_in(request)
            found = find(request.user.pk, slug, **kwargs)
            if found is None:
                raise Http404
            role, subject = found
            if role not in roles:
                raise PermissionDenied
            request.role = Role(role)
            return view(request, subject, **kwargs)

        return inner

    return decorate


def _ask_to_log_in(request: HttpRequest) -> HttpResponse:
    """A live part would take the log-in page for its new content, so htmx is told to reload the whole page."""
    if "HX-Request" not in request.headers:
        return redirect_to_login(request.get_full_path())
    sentence = "Your login has ended. Reload the page and log in again."
    return HttpResponse(sentence, status=401, content_type="text/plain; charset=utf-8", headers={"HX-Refresh": "true"})
