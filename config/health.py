"""Health for a load balancer: /healthz says that the process answers, /readyz that its services do."""

from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from redis import Redis


def process(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok\n", content_type="text/plain")


def ready(request: HttpRequest) -> JsonResponse:
    checks = {"database": _migrations_applied, "broker": _broker_answers}
    failed = {}
    for name, check in checks.items():
        try:
            problem = check()
        except Exception as error:  # noqa: BLE001 - any fault of a service means "not ready", and is named
            problem = type(error).__name__
        if problem:
            failed[name] = problem
    return JsonResponse({"ready": not failed, "failed": failed}, status=503 if failed else 200)


def _migrations_applied() -> str:
    executor = MigrationExecutor(connection)
    return "migrations are missing" if executor.migration_plan(executor.loader.graph.leaf_nodes()) else ""


def _broker_answers() -> str:
    with Redis.from_url(settings.REDIS_URL) as broker:
        broker.set("concord:readyz", "1", ex=10)
        return "" if broker.get("concord:readyz") == b"1" else "the broker forgot a value"
