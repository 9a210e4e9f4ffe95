"""What a model answered to the same questions, for those who may see it, and which models there are to choose."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from annotation.models import LabelProject
from materials.models import Instrument, Item
from responses.models import Respondent, RespondentKind, Response


def suggestions_for(label_project: LabelProject, item_ids: Iterable[int]) -> dict[int, dict[str, Any]]:
    """The latest standing answer of the chosen model by item and question code; {} without a model."""
    if label_project.suggestions_of_id is None:
        return {}
    answers = Response.objects.filter(
        respondent=label_project.suggestions_of_id,
        instrument=label_project.instrument_id,
        item__in=list(item_ids),
        superseded_by=None,
    )
    found: dict[int, dict[str, Any]] = {}
    for item, question, value in answers.order_by("pk").values_list("item_id", "question", "value"):
        found.setdefault(item, {})[question] = value
    return found


def without_suggestion(label_project: LabelProject, items: Iterable[Item]) -> list[Item]:
    """Those that the chosen model has not answered; none where no suggestions are shown."""
    if label_project.suggestions == LabelProject.Suggestions.NONE:
        return []
    items = list(items)
    answered = suggestions_for(label_project, [item.pk for item in items])
    return [item for item in items if item.pk not in answered]


def model_name(model: Respondent) -> str:
    """The model and, where it answered as one, its persona; a demo model says so."""
    own = ("model", "endpoint", "persona")
    name = str(model.attributes.get("model") or model.key)
    persona = [str(value) for attribute, value in model.attributes.items() if attribute not in own]
    about = [*persona, *(["demo model"] if model.demo_model else [])]
    return f"{name} ({', '.join(about)})" if about else name


def models_answering(instrument: Instrument) -> QuerySet[Respondent]:
    """The models, as themselves or as personas, that have answered questions of this instrument version."""
    answered = Response.objects.filter(respondent=OuterRef("pk"), instrument=instrument, superseded_by=None)
    models = Respondent.objects.filter(project=instrument.project_id, kind=RespondentKind.MODEL)
    return models.filter(Exists(answered)).order_by("key")
