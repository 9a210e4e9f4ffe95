"""The REST interface's door: bearer tokens with scopes, bound to one project, and cursor pages."""

from datetime import timedelta
from typing import Any

from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.pagination import CursorPagination
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from projects.access import MANAGERS, READERS
from projects.crypto import token_digest
from projects.models import ApiToken, Membership


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer KEY`. `request.auth` is the ApiToken; its `project` is all that can be reached."""

    keyword = b"bearer"

    def authenticate(self, request: Request) -> tuple[Any, ApiToken] | None:
        parts = get_authorization_header(request).split()
        if len(parts) != 2 or parts[0].lower() != self.keyword:
            return None
        token = (
            ApiToken.objects.select_related("user", "project")
            .filter(digest=token_digest(parts[1].decode("latin-1")), revoked_at=None, user__is_active=True)
            .first()
        )
        if token is None:
            raise AuthenticationFailed("The token is unknown or revoked; make a new one on the project's page.")
        now = timezone.now()
        if token.last_used_at is None or now - token.last_used_at > timedelta(minutes=1):
            ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class HasScope(BasePermission):
    """Reading needs the scope `read` and a role that reads; the rest needs `write` and an owner or researcher."""

    def has_permission(self, request: Request, view: Any) -> bool:
        token = request.auth
        if not isinstance(token, ApiToken):
            return False
        reading = request.method in SAFE_METHODS
        needed = ApiToken.Scope.READ if reading else ApiToken.Scope.WRITE
        roles = READERS if reading else MANAGERS
        return (
            needed in token.scopes
            and Membership.objects.filter(project_id=token.project_id, user_id=token.user_id, role__in=roles).exists()
        )


class IdCursorPagination(CursorPagination):
    ordering = "id"
    page_size_query_param = "page_size"
    max_page_size = 1000
