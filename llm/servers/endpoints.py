"""Writes to endpoints: where they are, with which key, and what a test found out about them."""

import os
import re
from dataclasses import replace
from typing import Any

from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from llm.models import Endpoint, Job
from llm.running.fingerprint import endpoint_identity
from llm.servers.addresses import url_fault
from llm.servers.endpoint_config import EndpointConfig
from projects.crypto import decrypt, encrypt
from projects.models import Project, User
from projects.services import audit

PROBE_SECONDS = 20.0
PROBED = {  # by field of EndpointConfig: the key in the endpoint's capabilities
    name: name
    for name in (
        "token_limit_field", "json_mode", "supports_seed", "system_role", "supports_temperature", "supports_top_p",
        "max_top_logprobs",
    )
} | {"supports_logprobs": "logprobs"}  # fmt: skip


class EndpointError(ValueError):
    """An endpoint that cannot be used as given; the text says why and what to do."""


@transaction.atomic
def save_endpoint(
    *,
    project: Project,
    name: str,
    base_url: str,
    model: str,
    endpoint: Endpoint | None = None,
    key: str = "",
    key_variable: str = "",
    forget_key: bool = False,
    by: User | None = None,
    **fields: Any,
) -> Endpoint:
    """Make an endpoint or change one. `fields` are the Endpoint's other fields (concurrency, prices, demo_model...).

    `key` is stored encrypted; an empty one keeps the stored key. A changed server drops it: else whoever may edit the
    address could have a key that they cannot see sent to a server of their own. An endpoint at the embedded model is
    always marked as such. Raises EndpointError.
    """
    check_base_url(base_url)
    check_key_variable(key_variable)
    if key and key_variable:
        raise EndpointError("Give the key or the name of an environment variable, not both.")
    endpoint = endpoint or Endpoint(project=project)
    moved = endpoint_identity(endpoint.base_url) != endpoint_identity(base_url)
    stays = endpoint.demo_model and not moved
    fields["demo_model"] = is_embedded_model(base_url) or fields.get("demo_model", stays)
    _keep_what_answered(endpoint, model=model, demo_model=fields["demo_model"])
    if key:
        endpoint.key_encrypted = encrypt(key)
    elif moved or forget_key or key_variable:
        endpoint.key_encrypted = ""
    if moved or endpoint.model != model:
        endpoint.capabilities, endpoint.probed_at = {}, None
    endpoint.name, endpoint.base_url, endpoint.model, endpoint.key_variable = name, base_url, model, key_variable
    for field, value in fields.items():
        setattr(endpoint, field, value)
    _save(endpoint)
    audit(project=project, user=by, action="endpoint saved", endpoint=name, server=endpoint_identity(base_url))
    return endpoint


def is_embedded_model(base_url: str) -> bool:
    """Whether this is the address of the embedded model that runs here."""
    here = settings.MODEL_BASE_URL if settings.DEMO_MODEL else ""
    return bool(here) and endpoint_identity(base_url) == endpoint_identity(here)


def probe_endpoint(*, endpoint: Endpoint) -> dict[str, Any]:
    """Ask the server what it can do, and store it; what probe returns. Raises EndpointError when there is no key."""
    from llm.servers.probing import probe  # its client's library takes most of a second to import, in every process

    config = endpoint_config(endpoint)
    # Somebody waits for the page.
    found = async_to_sync(probe)(replace(config, timeout_seconds=min(config.timeout_seconds, PROBE_SECONDS)))
    # Only if the endpoint is still the one that was asked: it may have been edited meanwhile.
    Endpoint.objects.filter(pk=endpoint.pk, base_url=endpoint.base_url, model=endpoint.model).update(
        capabilities=found, probed_at=timezone.now()
    )
    endpoint.refresh_from_db()
    return found


def endpoint_config(endpoint: Endpoint) -> EndpointConfig:
    """The endpoint as the client needs it, with what probing found out. Raises EndpointError.

    The address is looked at again: it may have been stored when less was refused.
    """
    check_base_url(endpoint.base_url)
    known = {name: endpoint.capabilities[key] for name, key in PROBED.items() if key in endpoint.capabilities}
    return EndpointConfig(
        base_url=endpoint.base_url,
        api_key=endpoint_key(endpoint),
        model=endpoint.model,
        timeout_seconds=endpoint.timeout_seconds,
        **known,
    )


def endpoint_key(endpoint: Endpoint) -> str:
    """The endpoint's API key, from the environment variable it names or decrypted; empty when it needs none."""
    if not endpoint.key_variable:
        return decrypt(endpoint.key_encrypted) if endpoint.key_encrypted else ""
    variable = endpoint.key_variable
    check_key_variable(variable)
    key, server = os.environ.get(variable, ""), key_server(variable)
    if not key:
        raise EndpointError(
            f"The endpoint {endpoint.name} takes its key from {variable}, which is not set; set it where the workers "
            "start."
        )
    # Whoever may edit an endpoint must not be able to have the operator's key sent to a server of their own.
    if not server or endpoint_identity(server) != endpoint_identity(endpoint.base_url):
        raise EndpointError(
            f"The key in {variable} is for {server or 'no server yet'}; to send it to {endpoint.base_url}, set "
            f"{key_server_variable(variable)} to that address where the workers start."
        )
    return key


def key_server_variable(variable: str) -> str:
    """The variable that says which base URL the key in `variable` belongs to."""
    return "CONCORD_MODEL_BASE_URL" if variable == settings.MODEL_KEY_VARIABLE_PREFIX else f"{variable}_URL"


def key_server(variable: str) -> str:
    return os.environ.get(key_server_variable(variable), "")


def check_key_variable(name: str) -> None:
    prefix = settings.MODEL_KEY_VARIABLE_PREFIX
    if name and not re.fullmatch(rf"{prefix}[A-Z0-9_]*", name):
        raise EndpointError(f"The key's variable must be named {prefix}..., not {name}.")


def check_base_url(base_url: str) -> None:
    """Refuse what is no web address, holds a password, or is a cloud's metadata service."""
    if fault := url_fault(base_url):
        raise EndpointError(fault)


def _save(endpoint: Endpoint) -> None:
    """The database says whether the name is taken: two may choose it at once."""
    try:
        with transaction.atomic():
            endpoint.save()
    except IntegrityError as error:
        if "endpoint_name_once_a_project" not in str(error):
            raise
        name = endpoint.name
        if endpoint.pk:
            endpoint.refresh_from_db()  # the page goes on showing what is stored
        raise EndpointError(f"There is an endpoint {name} already; choose another name.") from error


def _keep_what_answered(endpoint: Endpoint, *, model: str, demo_model: bool) -> None:
    """Answers belong to the respondent that an endpoint's model is, so it cannot become another model afterwards.

    A job that was started counts, although its first call may still be being written.
    """
    same = (endpoint.model, endpoint.demo_model) == (model, demo_model)
    if endpoint.pk and not same and endpoint.jobs.exclude(status=Job.Status.PLANNED).exists():
        raise EndpointError(f"{endpoint.name} has answered as {endpoint.model}; make a new endpoint for another model.")
