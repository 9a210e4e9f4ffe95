"""The embedded model of this installation as an endpoint of any project."""

from django.conf import settings
from django.db import transaction

from llm.models import Endpoint
from llm.servers.endpoints import is_embedded_model, save_endpoint
from projects.models import Project, User
from projects.services import audit

NAME = "Embedded model"


def embedded_model_runs() -> bool:
    return is_embedded_model(settings.MODEL_BASE_URL)


def use_embedded_model(*, project: Project, name: str = NAME, by: User | None = None) -> Endpoint:
    """The project's endpoint of this name at the embedded model, made when it is missing. Only while the model runs.

    Raises EndpointError when another endpoint has its name.
    """
    existing = project.endpoints.filter(name=name, base_url=settings.MODEL_BASE_URL).first()
    return existing or save_endpoint(
        project=project,
        name=name,
        base_url=settings.MODEL_BASE_URL,
        model=settings.MODEL_NAME,
        key_variable=settings.MODEL_KEY_VARIABLE_PREFIX,
        concurrency=4,
        timeout_seconds=120,
        by=by,
    )


@transaction.atomic
def move_embedded_endpoints(base_url: str) -> int:
    """Point all projects' endpoints at the embedded model to where it listens by now; returns how many moved.

    It is the same model there, so what a test found out stays.
    """
    moved = list(Endpoint.objects.filter(demo_model=True).exclude(base_url=base_url).select_related("project"))
    for endpoint in moved:
        audit(project=endpoint.project, user=None, action="endpoint moved", endpoint=endpoint.name, server=base_url)
    return Endpoint.objects.filter(pk__in=[endpoint.pk for endpoint in moved]).update(base_url=base_url)
