"""The tokens page: a manager's own keys to the REST interface; an owner sees and can revoke everybody's."""

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from projects import services
from projects.access import MANAGERS, MemberRequest, project_view
from projects.forms import TokenForm
from projects.models import ApiToken, Project, Role


def _visible(request: MemberRequest, project: Project) -> QuerySet[ApiToken]:
    tokens = project.tokens.select_related("user").order_by("revoked_at", "-id")
    is_owner = request.role == Role.OWNER
    return tokens if is_owner else tokens.filter(user_id=request.user.pk)


@never_cache
@project_view(*MANAGERS)
def tokens(request: MemberRequest, project: Project) -> HttpResponse:
    """Creating answers with the page itself, not a redirect: the key is shown in this one answer and kept nowhere."""
    form = TokenForm(request.POST if request.method == "POST" else None)
    key = ""
    if request.method == "POST" and form.is_valid():
        _, key = services.create_token(project=project, user=request.user, **form.cleaned_data)
        form = TokenForm()
    context = {"project": project, "nav": "overview", "form": form, "key": key, "tokens": _visible(request, project)}
    return render(request, "projects/tokens.html", context, status=422 if form.errors else 200)


@require_POST
@project_view(*MANAGERS)
def revoke(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    token = get_object_or_404(_visible(request, project), pk=pk)
    services.revoke_token(token=token, by=request.user)
    messages.success(request, f"The token {token.name} is revoked.")
    return redirect("tokens", slug=project.slug)
