"""The REST interface to the token's project, and what all its parts share."""

from collections.abc import Mapping
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from projects.models import ApiToken, Project

M = TypeVar("M", bound=Model)


class BearerTokenScheme(OpenApiAuthenticationExtension):
    target_class = "projects.api_auth.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


def token_of(request: Request) -> ApiToken:
    """The token of a request that HasScope has let in: its person and the one project it reaches."""
    token = request.auth
    assert isinstance(token, ApiToken)
    return token


class OfProject(generics.GenericAPIView[M]):
    """A view of rows of the token's project, which `rows` gives; no other project's row is in its reach."""

    def rows(self, project: Project) -> QuerySet[M]:
        raise NotImplementedError

    def get_queryset(self) -> QuerySet[M]:
        if getattr(self, "swagger_fake_view", False):  # the schema is made without a request
            return self.rows(Project())
        return self.rows(token_of(self.request).project)


class IndexView(APIView):
    """What there is: the token's project and the addresses of its lists and of the schema."""

    lists: Mapping[str, str] = {}  # names of addresses by what they list

    @extend_schema(responses={200: OpenApiTypes.OBJECT})
    def get(self, request: Request) -> ApiResponse:
        addresses = {name: reverse(address, request=request) for name, address in self.lists.items()}
        return ApiResponse({"project": token_of(request).project.slug, **addresses})


class ProjectSerializer(serializers.ModelSerializer):
    class Meta:
        model = Project
        fields = ["slug", "name", "description", "created_at"]


class ProjectView(generics.RetrieveAPIView[Project]):
    """The project that the token belongs to."""

    serializer_class = ProjectSerializer

    def get_object(self) -> Project:
        return token_of(self.request).project
