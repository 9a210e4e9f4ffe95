"""What a prompt's page shows on real items: the messages, the names that the templates use, and the tokens."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from django.db.models import Count, Exists, F, Func, JSONField, Max, Min, OuterRef, Q, Value
from django.db.models.lookups import IsNull

from llm.models import Prompt
from llm.planning.costs import estimated_tokens, prompt_messages
from llm.planning.grid import Factor
from llm.planning.orders import Orders, call_orders, movable
from llm.prompting.rendering import PromptError, template_paths
from llm.querysets import job_for_preview
from materials.content import ordered
from materials.models import Dataset, Instrument, Item
from projects.models import Project

SAMPLED_ITEMS = 20
MOST_COUNTED = 200  # fields that are looked for in every item
NAMES = ("item", "persona", "condition", "questions", "answer_format")
WHOLE = ("questions", "answer_format")  # these hold no names of their own
ATTRIBUTES = ("country", "age_group", "gender")
CONDITION = "condition."  # before a factor's name among the page's parameters


@dataclass(frozen=True)
class Choice:
    """What the prompt is shown with: `item` is None without items, `unknown` an item that was asked for and is not."""

    datasets: Sequence[Dataset]
    instruments: Sequence[Instrument]
    dataset: Dataset | None
    instrument: Instrument | None
    item: Item | None
    unknown: str
    persona: dict[str, str]
    levels: dict[str, dict[str, Any]]  # of the factors of the newest job: values by name
    given: dict[str, str]  # by factor: the name of a level, or a value
    condition: dict[str, Any]
    reverse: bool  # the options that may change places

    @property
    def questions(self) -> Sequence[Any]:
        return self.instrument.questionnaire.questions if self.instrument else ()

    @property
    def has_orders(self) -> bool:
        return bool(movable(self.questions))

    @property
    def orders(self) -> Orders:
        return call_orders(self.questions, "both", int(self.reverse), key="")


@dataclass(frozen=True)
class Use:
    """A name that the templates use. `missing`: how many items of the dataset lack it; None when it is no field."""

    path: tuple[str, ...]
    items: int = 0
    missing: int | None = None

    def __str__(self) -> str:
        """As a template would write it."""
        first, *names = self.path
        return first + "".join(
            f".{name}" if name.isidentifier() else f"[{json.dumps(name, ensure_ascii=False)}]" for name in names
        )

    @property
    def known(self) -> bool:
        return self.path[0] in NAMES and (len(self.path) == 1 or self.path[0] not in WHOLE)

    @property
    def nowhere(self) -> bool:
        """Whether neither an item of the dataset has it nor a job could give it."""
        return not self.known or (self.items > 0 and self.missing == self.items)


@dataclass
class Sample:
    """Tokens of one message each over the items that could be rendered, and what the first of the others said."""

    items: int
    tokens: dict[str, list[int]] = field(default_factory=dict)
    faults: list[tuple[Item, str]] = field(default_factory=list)

    @property
    def rendered(self) -> int:
        return self.items - len(self.faults)

    @property
    def rows(self) -> list[tuple[str, int, float, int]]:
        """Message, fewest, median and most tokens."""
        return [(name, min(found), median(found), max(found)) for name, found in self.tokens.items() if any(found)]


def chosen(project: Project, prompt: Prompt, wanted: Mapping[str, str]) -> Choice:
    """What the page's parameters choose; else what the prompt's newest job uses; else the first ones."""
    datasets = list(project.datasets.filter(Exists(Item.objects.filter(dataset=OuterRef("pk")))))
    instruments = list(project.instruments.all())
    job = job_for_preview(prompt)
    dataset = _row(datasets, wanted.get("dataset", ""), job.dataset_id if job else 0)
    instrument = _row(instruments, wanted.get("instrument", ""), job.instrument_id if job else 0)
    name = wanted.get("item", "").replace("\x00", "").strip()
    item = dataset.items.filter(external_id=name).first() if dataset and name else None
    factors = [Factor.from_json(factor) for factor in job.factors] if job else []
    levels = {factor.name: {level.name: level.value for level in factor.levels} for factor in factors}
    given = {
        name: wanted.get(CONDITION + name, "").strip() or next(iter(levels.get(name, [""])))
        for name in _factors(prompt, levels)
    }
    values = {name: _value(text, levels.get(name, {})) for name, text in given.items() if text}
    return Choice(
        datasets=datasets,
        instruments=instruments,
        dataset=dataset,
        instrument=instrument,
        item=item or (dataset.items.first() if dataset else None),
        unknown=name if dataset and name and not item else "",
        persona={name: wanted[name] for name in ATTRIBUTES if wanted.get(name)},
        levels=levels,
        given=given,
        condition=_stand_ins(prompt) | values,
        reverse=wanted.get("order") == "reversed",
    )


def rendered(prompt: Prompt, choice: Choice, item: Item) -> list[dict[str, str]]:
    """Raises PromptError when the prompt does not fit the item."""
    assert choice.dataset
    return prompt_messages(
        prompt,
        choice.questions,
        dict(ordered(item.content, choice.dataset.field_order)),
        persona=choice.persona,
        condition=choice.condition,
        orders=choice.orders,
    )


def paths(prompt: Prompt) -> list[tuple[str, ...]]:
    return sorted({*template_paths(prompt.system), *template_paths(prompt.user)})


def uses(prompt: Prompt, dataset: Dataset | None) -> list[Use]:
    """The names of the templates, the first MOST_COUNTED item fields with how many items lack them. One query, which
    reads each item."""
    found = paths(prompt)
    fields = [path for path in found if path[0] == "item" and len(path) > 1][:MOST_COUNTED]
    if not dataset or not fields:
        return [Use(path) for path in found]
    counts = {f"lack_{n}": Count("pk", filter=_lacks(path[1:])) for n, path in enumerate(fields)}
    row = dataset.items.order_by().aggregate(items=Count("pk"), **counts)
    missing = {path: row[f"lack_{n}"] for n, path in enumerate(fields)}
    return [Use(path, row["items"], missing.get(path)) for path in found]


def sample(prompt: Prompt, choice: Choice) -> Sample:
    """Tokens of items that lie evenly spread over the dataset."""
    assert choice.dataset
    items = _spread(choice.dataset)
    found = Sample(len(items))
    for item in items:
        try:
            texts = {message["role"]: message["content"] for message in rendered(prompt, choice, item)}
        except PromptError as error:
            found.faults.append((item, str(error)))
            continue
        tokens = {role: estimated_tokens(texts[role]) if role in texts else 0 for role in ("system", "user")}
        for name, number in (*tokens.items(), ("in all", sum(tokens.values()))):
            found.tokens.setdefault(name, []).append(number)
    return found


def neighbours(item: Item) -> tuple[Item | None, Item | None]:
    """The items before and after it in the dataset."""
    items = Item.objects.filter(dataset_id=item.dataset_id).only("external_id")
    before = items.filter(Q(position__lt=item.position) | Q(position=item.position, pk__lt=item.pk))
    after = items.filter(Q(position__gt=item.position) | Q(position=item.position, pk__gt=item.pk))
    return before.order_by("-position", "-pk").first(), after.order_by("position", "pk").first()


def _row(rows: Iterable[Any], pk: str, otherwise: int) -> Any:
    """The row with this id, else the one with the other id, else the first one; None without rows."""
    by_pk = {str(row.pk): row for row in rows}
    return by_pk.get(pk) or by_pk.get(str(otherwise)) or next(iter(by_pk.values()), None)


def _lacks(names: Sequence[str]) -> Q:
    value = Func(F("content"), *map(Value, names), function="jsonb_extract_path", output_field=JSONField())
    return Q(IsNull(value, True))


def _factors(prompt: Prompt, levels: Iterable[str]) -> list[str]:
    """The factors that the templates read by name, and those of the newest job where they read all."""
    found = [path for path in paths(prompt) if path[0] == "condition"]
    return list(dict.fromkeys([*(path[1] for path in found if path[1:]), *(levels if ("condition",) in found else ())]))


def _stand_ins(prompt: Prompt) -> dict[str, Any]:
    """The name of each factor in the place of its value, in brackets."""
    found: dict[str, Any] = {}
    for _, factor, *names in (path for path in paths(prompt) if path[0] == "condition" and path[1:]):
        if not names:
            found.setdefault(factor, f"[{factor}]")
        elif isinstance(within := found.setdefault(factor, {}), dict):
            within[names[0]] = f"[{'.'.join([factor, *names])}]"
    return found


def _value(text: str, levels: Mapping[str, Any]) -> Any:
    """The level with this name, else JSON where it is an object or a list, else the text."""
    if text in levels:
        return levels[text]
    try:
        return json.loads(text) if text[0] in "{[" else text
    except (ValueError, RecursionError):
        return text


def _spread(dataset: Dataset) -> list[Item]:
    """At most SAMPLED_ITEMS items at even distances, without reading those between them."""
    ends = dataset.items.aggregate(first=Min("position"), last=Max("position"))
    if ends["first"] is None:
        return []
    places = {ends["first"] + (ends["last"] - ends["first"]) * n // (SAMPLED_ITEMS - 1) for n in range(SAMPLED_ITEMS)}
    nearest = [dataset.items.filter(position__gte=place).values("pk")[:1] for place in sorted(places)]
    found = nearest[0].union(*nearest[1:], all=True) if len(nearest) > 1 else nearest[0]
    return list(dataset.items.filter(pk__in=[row["pk"] for row in found]))
