"""Writes to projects, members, tokens and the audit log."""

from typing import Any

from django.db import transaction

from projects.models import AuditEvent, Membership, Project, Role, User


def audit(*, project: Project, user: User | None, action: str, **detail: Any) -> AuditEvent:
    return AuditEvent.objects.create(project=project, user=user, action=action, detail=detail)


@transaction.atomic
def set_member(*, project: Project, user: User, role: Role, by: User | None) -> Membership:
    """Give the person this role in the project."""
    membership, _ = Membership.objects.update_or_create(project=project, user=user, defaults={"role": role})
    audit(project=project, user=by, action="member set", member=user.get_username(), role=str(role))
    return membership
