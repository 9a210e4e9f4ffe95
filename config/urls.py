"""Every address of the platform."""

from django.urls import include, path

from config import health
from evaluation import shared_urls
from studies import participant_urls
from studies.platform_views import platform_message

handler400 = "config.errors.bad_request"
handler500 = "config.errors.server_error"

urlpatterns = [
    path("healthz", health.process, name="healthz"),
    path("readyz", health.ready, name="readyz"),
    path("api/v1/", include("config.api_urls")),
    path("s/", include(participant_urls)),
    path("shared/", include(shared_urls)),
    path("platform/<slug:key>/", platform_message, name="platform_message"),
    path("", include("projects.urls")),
    path("p/<slug:slug>/materials/", include("materials.urls")),
    path("p/<slug:slug>/labelling/", include("annotation.urls")),
    path("p/<slug:slug>/studies/", include("studies.urls")),
    path("p/<slug:slug>/models/", include("llm.urls")),
    path("p/<slug:slug>/responses/", include("responses.urls")),
    path("p/<slug:slug>/reports/", include("evaluation.urls")),
    path("p/<slug:slug>/protocols/", include("protocols.urls")),
]
