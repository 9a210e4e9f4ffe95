"""REST: datasets, items (read, import) and instruments."""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse

from materials.forms import MAX_UPLOAD_BYTES
from materials.importing import ImportRefusedError, import_items
from materials.models import Dataset, Instrument, Item
from materials.querysets import datasets_with_counts
from materials.reading import read_json_items
from projects.api import OfProject, token_of
from projects.models import Project


class TooLargeError(APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = "The request is larger than 50 MB; send the items in several requests."


class DatasetSerializer(serializers.ModelSerializer):
    item_count = serializers.IntegerField(read_only=True)

    class Meta:
        model = Dataset
        fields = ["slug", "name", "description", "item_count", "created_at"]


class ItemSerializer(serializers.ModelSerializer):
    dataset = serializers.SlugField(source="dataset.slug")

    class Meta:
        model = Item
        fields = ["id", "dataset", "external_id", "content", "content_hash", "lineage", "created_at"]


class NewItemSerializer(serializers.Serializer):
    external_id = serializers.CharField(max_length=200)
    content = serializers.DictField()


class ImportSerializer(serializers.Serializer):
    items = NewItemSerializer(many=True)


class ImportedSerializer(serializers.Serializer):
    added = serializers.IntegerField()
    unchanged = serializers.IntegerField()


class FaultSerializer(serializers.Serializer):
    row = serializers.IntegerField(help_text="Place of the item in the list, from 1; 0 is the list itself.")
    column = serializers.CharField()
    what = serializers.CharField()


class RefusedSerializer(serializers.Serializer):
    detail = serializers.CharField()
    faults = FaultSerializer(many=True)


class InstrumentSerializer(serializers.ModelSerializer):
    class Meta:
        model = Instrument
        fields = ["id", "name", "version", "title", "questions", "created_at"]


class DatasetsView(OfProject[Dataset], generics.ListAPIView[Dataset]):
    serializer_class = DatasetSerializer

    def rows(self, project: Project) -> QuerySet[Dataset]:
        return datasets_with_counts(project)


class DatasetView(OfProject[Dataset], generics.RetrieveAPIView[Dataset]):
    serializer_class = DatasetSerializer
    lookup_field = "slug"

    def rows(self, project: Project) -> QuerySet[Dataset]:
        return datasets_with_counts(project)


class ItemsView(OfProject[Item], generics.ListAPIView[Item]):
    serializer_class = ItemSerializer

    def rows(self, project: Project) -> QuerySet[Item]:
        dataset = get_object_or_404(Dataset, project=project, slug=self.kwargs["slug"])
        return dataset.items.select_related("dataset")

    @extend_schema(request=ImportSerializer, responses={201: ImportedSerializer, 422: RefusedSerializer})
    def post(self, request: Request, slug: str) -> ApiResponse:
        """Import items, all or none; the dataset is made when it is missing."""
        if int(request.META.get("CONTENT_LENGTH") or 0) > MAX_UPLOAD_BYTES:
            raise TooLargeError
        try:
            result = import_items(
                project=token_of(request).project,
                dataset_slug=slug,
                records=read_json_items(_items(request)),
                source="api",
                by=token_of(request).user,
            )
        except ImportRefusedError as error:
            refused = RefusedSerializer({"detail": str(error), "faults": error.faults})
            return ApiResponse(refused.data, status=status.HTTP_422_UNPROCESSABLE_ENTITY)
        return ApiResponse(ImportedSerializer(result).data, status=status.HTTP_201_CREATED)


def _items(request: Request) -> Any:
    try:
        data = request.data
    except RecursionError as error:
        raise ParseError("The JSON is nested too deeply.") from error
    return data.get("items") if isinstance(data, dict) else None


class ItemView(OfProject[Item], generics.RetrieveAPIView[Item]):
    serializer_class = ItemSerializer

    def rows(self, project: Project) -> QuerySet[Item]:
        return Item.objects.filter(dataset__project_id=project.pk).select_related("dataset")


class InstrumentsView(OfProject[Instrument], generics.ListAPIView[Instrument]):
    serializer_class = InstrumentSerializer

    def rows(self, project: Project) -> QuerySet[Instrument]:
        return Instrument.objects.filter(project_id=project.pk)


class InstrumentView(OfProject[Instrument], generics.RetrieveAPIView[Instrument]):
    serializer_class = InstrumentSerializer

    def rows(self, project: Project) -> QuerySet[Instrument]:
        return Instrument.objects.filter(project_id=project.pk)
