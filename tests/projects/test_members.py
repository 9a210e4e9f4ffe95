import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.urls import reverse

from projects.crypto import token_digest
from projects.models import ApiToken, AuditEvent, Membership, Project, Role, User
from projects.services import LastOwnerError, create_token, remove_member, set_member


def act(client_as, user: User, name: str, project: Project, data: dict | None = None, **kwargs: int):
    return client_as(user).post(reverse(name, kwargs={"slug": project.slug, **kwargs}), data or {}, follow=True)


def test_an_owner_adds_a_member_and_it_is_logged(project: Project, owner: User, outsider: User, client_as):
    page = act(client_as, owner, "members", project, {"username": "outsider", "role": "viewer"})
    assert "outsider is a member now" in page.content.decode()
    assert Membership.objects.get(user=outsider).role == Role.VIEWER
    event = AuditEvent.objects.first()
    assert event
    assert (event.user, event.action, event.detail) == (owner, "member set", {"member": "outsider", "role": "viewer"})


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"username": "nobody", "role": "viewer"}, "Nobody has the username nobody"),
        ({"username": "viewer", "role": "owner"}, "viewer is a member already"),
        ({"username": "outsider", "role": "king"}, "king is not one of"),
    ],
)
@pytest.mark.usefixtures("viewer", "outsider")
def test_wrong_members_are_refused(project: Project, owner: User, client_as, data: dict[str, str], words: str):
    page = act(client_as, owner, "members", project, data)
    assert page.status_code == 422
    assert words in page.content.decode()
    assert project.memberships.count() == 2


def test_the_last_owner_stays(project: Project, owner: User, viewer: User, client_as):
    mine = Membership.objects.get(user=owner)
    for name, data in [("member_role", {"role": "viewer"}), ("member_remove", {})]:
        assert "only owner" in act(client_as, owner, name, project, data, pk=mine.pk).content.decode()
    mine.refresh_from_db()
    assert mine.role == Role.OWNER
    set_member(project=project, user=viewer, role=Role.OWNER, by=owner)
    page = act(client_as, owner, "member_remove", project, pk=mine.pk)
    assert page.redirect_chain == [("/projects/", 302)]
    assert "owner is no longer a member" in page.content.decode()
    assert list(project.memberships.values_list("user__username", "role")) == [("viewer", "owner")]


def test_who_leaves_takes_no_token_along(project: Project, owner: User, researcher: User):
    token, _ = create_token(project=project, user=researcher, name="t", scopes=["read"])
    remove_member(project=project, user=researcher, by=owner)
    token.refresh_from_db()
    assert token.revoked_at


def test_members_of_another_project_are_out_of_reach(project: Project, owner: User, outsider: User, client_as):
    other = Project.objects.create(name="Other", slug="other")
    membership = set_member(project=other, user=outsider, role=Role.VIEWER, by=None)
    assert act(client_as, owner, "member_remove", project, pk=membership.pk).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_two_owners_cannot_remove_each_other_at_once():
    project = Project.objects.create(name="Two", slug="two")
    first, second = (User.objects.create_user(username=name) for name in ("first", "second"))
    for user in (first, second):
        set_member(project=project, user=user, role=Role.OWNER, by=None)
    barrier = threading.Barrier(2)

    def remove(user: User) -> str:
        try:
            barrier.wait(timeout=10)
            remove_member(project=project, user=user, by=None)
            return "removed"
        except LastOwnerError:
            return "kept"
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(remove, (first, second))) == ["kept", "removed"]
    assert project.memberships.count() == 1


def test_a_token_is_shown_once_and_only_its_digest_kept(project: Project, researcher: User, client_as):
    page = act(client_as, researcher, "tokens", project, {"name": "notebook", "scopes": ["read", "write"]})
    token = ApiToken.objects.get()
    key = page.context["key"]
    assert key in page.content.decode()
    assert "no-store" in page["Cache-Control"]
    assert (token.digest, token.scopes) == (token_digest(key), ["read", "write"])
    again = client_as(researcher).get(reverse("tokens", kwargs={"slug": project.slug}))
    assert key not in again.content.decode()


def test_a_researcher_sees_only_their_own_tokens_and_an_owner_all(
    project: Project, owner: User, researcher: User, client_as
):
    create_token(project=project, user=researcher, name="of researcher", scopes=["read"])
    token, _ = create_token(project=project, user=owner, name="of owner", scopes=["read"])
    url = reverse("tokens", kwargs={"slug": project.slug})
    assert "of owner" not in client_as(researcher).get(url).content.decode()
    assert "of researcher" in client_as(owner).get(url).content.decode()
    assert act(client_as, researcher, "token_revoke", project, pk=token.pk).status_code == 404
    act(client_as, owner, "token_revoke", project, pk=token.pk)
    token.refresh_from_db()
    assert token.revoked_at
    assert AuditEvent.objects.filter(action="token revoked").count() == 1
