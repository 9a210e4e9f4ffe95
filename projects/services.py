"""Writes to projects, members, tokens and the audit log."""

from collections.abc import Iterable
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from projects.crypto import new_token_key, token_digest
from projects.models import ApiToken, AuditEvent, Membership, Project, Role, User
from projects.slugs import free_slug


class LastOwnerError(Exception):
    """The change would leave the project without an owner."""


def audit(*, project: Project, user: User | None, action: str, **detail: Any) -> AuditEvent:
    return AuditEvent.objects.create(project=project, user=user, action=action, detail=detail)


@transaction.atomic
def create_project(*, name: str, description: str = "", by: User) -> Project:
    """A new project, owned by its maker. Its slug comes from the name, numbered when another project has it."""
    with connection.cursor() as cursor:  # two at once would choose the same slug
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('project slug'))")
    slug = free_slug(name, taken=set(Project.objects.values_list("slug", flat=True)), otherwise="project")
    project = Project.objects.create(name=name, slug=slug, description=description)
    set_member(project=project, user=by, role=Role.OWNER, by=by)
    return project


@transaction.atomic
def set_member(*, project: Project, user: User, role: Role, by: User | None) -> Membership:
    """Give the person this role in the project. Raises LastOwnerError when nobody would own it any more."""
    if role != Role.OWNER:
        _keep_an_owner(project, without=user)
    membership, _ = Membership.objects.update_or_create(project=project, user=user, defaults={"role": role})
    audit(project=project, user=by, action="member set", member=user.get_username(), role=str(role))
    return membership


@transaction.atomic
def remove_member(*, project: Project, user: User, by: User | None) -> None:
    """Take the person out of the project and revoke their tokens. Raises LastOwnerError for the last owner."""
    _keep_an_owner(project, without=user)
    Membership.objects.filter(project=project, user=user).delete()
    ApiToken.objects.filter(project=project, user=user, revoked_at=None).update(revoked_at=timezone.now())
    audit(project=project, user=by, action="member removed", member=user.get_username())


def _keep_an_owner(project: Project, *, without: User) -> None:
    # Two owners who remove each other at once must queue up on the project's row.
    Project.objects.select_for_update().get(pk=project.pk)
    owners = set(project.memberships.filter(role=Role.OWNER).values_list("user_id", flat=True))
    if owners == {without.pk}:
        raise LastOwnerError(f"{without.get_username()} is the only owner; make somebody else owner first.")


@transaction.atomic
def create_token(*, project: Project, user: User, name: str, scopes: Iterable[str]) -> tuple[ApiToken, str]:
    """A new token and its key. The key exists only in the returned value; the table has its digest."""
    key = new_token_key()
    chosen = sorted(set(scopes))
    token = ApiToken.objects.create(project=project, user=user, name=name, digest=token_digest(key), scopes=chosen)
    audit(project=project, user=user, action="token created", token=name, scopes=chosen)
    return token, key


@transaction.atomic
def revoke_token(*, token: ApiToken, by: User) -> None:
    """Refuse the token from now on. A second call changes nothing."""
    if ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now()):
        audit(project=token.project, user=by, action="token revoked", token=token.name)
