"""REST: answers, with the same filters as the responses page."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse

from projects.api import OfProject, token_of
from projects.models import Project
from responses.filters import KINDS, MARKS, PERSONAS, SESSIONS, ResponseFilterForm
from responses.models import Respondent, Response

TEXT_FILTERS = {
    "dataset": "Slug of the dataset.",
    "question": "Code of the question.",
    "instrument_name": "Name of the instrument, any version.",
    "also": "Code of another question that the respondent answered about the item.",
    "attr_NAME": "Attribute of the respondent, for example attr_country=Japan; empty for those without it.",
    "cond_NAME": "Factor of the condition, for example cond_option_order=yes|no; empty for those without it.",
}
CHOICES = {
    "kind": (KINDS, "Kind of respondent."),
    "mark": (MARKS, "Real or simulated people, models or the demo model."),
    "sessions": (SESSIONS, "How the person's session stands; counted leaves out unfinished and failed ones."),
    "persona": (PERSONAS, "Whether a model answered as somebody."),
}
FILTERS = [
    *(
        OpenApiParameter(name, str, enum=[code for code, _ in choices if code], description=text)
        for name, (choices, text) in CHOICES.items()
    ),
    *(OpenApiParameter(name, str, description=text) for name, text in TEXT_FILTERS.items()),
    *(OpenApiParameter(name, int, description=f"Id of the {name}.") for name in ("item", "instrument", "respondent")),
    OpenApiParameter("superseded", bool, description="With answers that later ones replaced."),
]


class RespondentSerializer(serializers.ModelSerializer):
    class Meta:
        model = Respondent
        fields = ["id", "key", "kind", "simulated", "demo_model", "attributes"]


class ResponseSerializer(serializers.ModelSerializer):
    dataset = serializers.SlugField(source="item.dataset.slug")
    item = serializers.CharField(source="item.external_id")
    instrument = serializers.SlugField(source="instrument.name")
    instrument_version = serializers.IntegerField(source="instrument.version")
    respondent = RespondentSerializer()
    condition = serializers.DictField(source="condition.factors")
    superseded = serializers.SerializerMethodField()

    class Meta:
        model = Response
        fields = [
            "id",
            "dataset",
            "item",
            "item_id",
            "instrument",
            "instrument_version",
            "question",
            "respondent",
            "condition",
            "sample",
            "value",
            "answered_at",
            "seconds",
            "source_kind",
            "source_id",
            "superseded",
        ]

    def get_superseded(self, response: Response) -> bool:
        return response.superseded_by_id is not None


class ResponsesView(OfProject[Response], generics.ListAPIView[Response]):
    serializer_class = ResponseSerializer

    def rows(self, project: Project) -> QuerySet[Response]:
        return Response.objects.filter(project_id=project.pk)

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        form = ResponseFilterForm(self.request.query_params, project=token_of(self.request).project)
        if not form.is_valid():
            raise ValidationError({"detail": form.problem})
        return form.queryset().select_related("item__dataset", "instrument", "respondent", "condition")

    @extend_schema(parameters=FILTERS)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> ApiResponse:
        """Answers in the order in which they came in."""
        return super().get(request, *args, **kwargs)
