"""Writes to endpoints: where they are, with which key, and what a test found out about them."""

import ipaddress
import os
import re
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from llm.endpoint_config import EndpointConfig
from llm.fingerprint import endpoint_identity
from llm.models import Call, Endpoint
from projects.crypto import decrypt, encrypt
from projects.models import Project, User
from projects.services import audit

PROBE_SECONDS = 20.0
PROBED = ("token_limit_field", "json_mode", "supports_seed", "system_role")
# The addresses under which clouds hand out their machines' credentials. Other private addresses are allowed, because
# models on the own machine or network are an ordinary use; who may not reach them is for the network to say.
METADATA_HOSTS = frozenset(
    {"metadata", "metadata.google.internal", "instance-data", "fd00:ec2::254", "100.100.100.200"}
)


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
    if project.endpoints.filter(name=name).exclude(pk=endpoint.pk or 0).exists():
        raise EndpointError(f"There is an endpoint {name} already; choose another name.")
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
    endpoint.save()
    audit(project=project, user=by, action="endpoint saved", endpoint=name, server=endpoint_identity(base_url))
    return endpoint


def is_embedded_model(base_url: str) -> bool:
    """Whether this is the address of the embedded model that runs here."""
    here = settings.MODEL_BASE_URL if settings.DEMO_MODEL else ""
    return bool(here) and endpoint_identity(base_url) == endpoint_identity(here)


def probe_endpoint(*, endpoint: Endpoint) -> dict[str, Any]:
    """Ask the server what it can do, and store it; what probe returns. Raises EndpointError when there is no key."""
    from llm.probing import probe  # its client's library takes most of a second to import, in every process

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
    """The endpoint as the client needs it, with what probing found out."""
    known = {name: endpoint.capabilities[name] for name in PROBED if name in endpoint.capabilities}
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
    try:
        parts = urlsplit(base_url)
        host = (parts.hostname or "").rstrip(".").lower()
        _ = parts.port
    except ValueError as error:
        raise EndpointError(f"The base URL cannot be read: {error}.") from error
    if parts.scheme not in ("http", "https") or not host:
        raise EndpointError("The base URL must start with http:// or https://, like https://api.example.org/v1.")
    if parts.username or parts.password:
        raise EndpointError("The base URL holds a user or password; give the key in its own field.")
    if host in METADATA_HOSTS or _is_link_local(host):
        raise EndpointError(f"{host} is an address for machines' own metadata, not a model server.")


def _is_link_local(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return address.is_link_local or bool(mapped and mapped.is_link_local)


def _keep_what_answered(endpoint: Endpoint, *, model: str, demo_model: bool) -> None:
    """Answers belong to the respondent that an endpoint's model is, so it cannot become another model afterwards."""
    same = (endpoint.model, endpoint.demo_model) == (model, demo_model)
    if endpoint.pk and not same and Call.objects.filter(job__endpoint=endpoint).exists():
        raise EndpointError(f"{endpoint.name} has answered as {endpoint.model}; make a new endpoint for another model.")
