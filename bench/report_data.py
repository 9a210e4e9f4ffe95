"""A project as large as PACT's benchmark: scenarios expanded into dyads, and answers of six models to all of them.

Rows go in by COPY, without the table's indexes and foreign keys, which are made again afterwards: what is measured is
how they are read.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice, product
from typing import Any

import numpy as np
from django.db import connection, transaction
from django.db.models import Model
from numpy.typing import NDArray

from bench.recording import ANSWERED_AT
from materials.models import Dataset, Item
from materials.services import publish_instrument
from projects.models import Project
from protocols.pact.cases import CONFIGS
from protocols.pact.countries import all_countries, find
from protocols.pact.dyads import DYADS_PER_SCENARIO, Dyad, expand_dyads
from protocols.pact.instruments import PAIRED_QUESTIONS
from protocols.pact.scenarios import PREFERENCE_TYPES
from responses.models import RespondentKind, Response, SourceKind
from responses.services import get_condition, get_respondent

FAMILIES, STAGES = ("alpha", "beta", "gamma"), ("base", "instruct")
MODELS = tuple(f"{family}-{stage}" for family, stage in product(FAMILIES, STAGES))
Cell = tuple[tuple[int, int], tuple[int, list[int]], int]  # model, configuration (each with its place), sample
ORDERS = ("culture|preference", "preference|culture")
QUESTION = "personal"
ITEM_COLUMNS = "dataset_id, external_id, content, content_hash, lineage, position, created_at"
ANSWER_COLUMNS = (
    "project_id, instrument_id, source_kind, question, answered_at, respondent_id, item_id, condition_id, sample, value"
)
PARAMETERS: dict[str, Any] = {
    "dataset": "dyads",
    "instrument": "paired",
    "questions": [QUESTION],
    "factors": [{"name": "cond_config"}],
    "base_instruct": [[f"{family}-{stage}" for stage in STAGES] for family in FAMILIES],
    "maps": [["item_receiver_region"], ["item_actor_region", "item_receiver_region"]],
    "contrasts": [
        {"name": f"item_{person}_{trait}", "plus": plus, "minus": minus}
        for person in ("actor", "receiver")
        for trait, plus, minus in (("age", "younger", "older"), ("gender", "female", "male"))
    ],
    "preferences": "item_preference_type",
    "deviance": ["attr_model", "cond_config", "item_relation", "item_receiver_region", "item_actor_age"],
    "unit": "item_scenario",
}


@dataclass(frozen=True)
class Size:
    """How many scenarios, each of which is 48 items, and how many answers to each question a model gives."""

    scenarios: int
    samples: int = 1

    @property
    def items(self) -> int:
        return self.scenarios * DYADS_PER_SCENARIO

    @property
    def answers(self) -> int:
        return self.items * len(MODELS) * len(CONFIGS) * self.samples


def fill(size: Size, *, slug: str) -> Project:
    """A project of its own with these items and the only answers in the database, indexed and looked at by it."""
    project = Project.objects.create(name=slug, slug=slug)
    instrument = publish_instrument(project=project, name="paired", title="Paired", questions=PAIRED_QUESTIONS)
    dataset = Dataset.objects.create(project=project, name="Dyads", slug="dyads")
    _copy(Item, ITEM_COLUMNS, _items(dataset, size.scenarios))
    items = np.array(dataset.items.order_by("pk").values_list("pk", flat=True))
    cells = list(product(enumerate(_models(project)), enumerate(_conditions(project)), range(size.samples)))
    common = f"{project.pk}\t{instrument.pk}\t{SourceKind.IMPORT}\t{QUESTION}\t{ANSWERED_AT}"
    with transaction.atomic(), _bare_answers():
        _copy(Response, ANSWER_COLUMNS, _answers(common, items, cells))
    with connection.cursor() as cursor:
        cursor.execute(f"VACUUM (ANALYZE) {Item._meta.db_table}, {Response._meta.db_table}")
    return project


def _items(dataset: Dataset, scenarios: int) -> Iterator[str]:
    countries = all_countries()
    named = (
        {"external_id": f"s{number}", "receiver_country": country.name}
        for number, country in enumerate(islice(cycle(countries), scenarios))
    )
    for position, dyad in enumerate(expand_dyads(named, pool=countries, seed=1)):
        # COPY's text format reads a backslash as its own.
        content = json.dumps(_content(dyad)).replace("\\", "\\\\")
        yield f"{dataset.pk}\t{dyad.key}\t{content}\t{position:064x}\t{{}}\t{position}\t{ANSWERED_AT}\n"


def _content(dyad: Dyad) -> dict[str, str]:
    number = int(dyad.scenario_id[1:])
    return {
        "scenario": dyad.scenario_id,
        "relation": dyad.relation,
        "actor_region": find(dyad.actor_country).region,
        "receiver_region": find(dyad.receiver_country).region,
        "actor_age": dyad.actor_age,
        "actor_gender": dyad.actor_gender,
        "receiver_age": dyad.receiver_age,
        "receiver_gender": dyad.receiver_gender,
        "preference_type": PREFERENCE_TYPES[number % len(PREFERENCE_TYPES)],
        "situation": f"{number}. " + 12 * "Two people meet and want different things. ",
    }


def _answers(common: str, items: NDArray[np.int64], cells: Iterable[Cell]) -> Iterator[str]:
    """Answers that lean to culture, more or less by model, configuration and scenario.

    The order of the options is drawn once for each item and configuration: more samples make no more conditions.
    """
    rng = np.random.default_rng(1)
    order = rng.integers(len(ORDERS), size=(len(CONFIGS), len(items)))
    scenario = rng.normal(size=len(items) // DYADS_PER_SCENARIO).repeat(DYADS_PER_SCENARIO)
    line = f"{common}\t%d\t%d\t%d\t%d\t%s\n"
    for (model, respondent), (config, conditions), sample in cells:
        odds = 0.8 * scenario + 0.3 * model - 0.5 * config
        follows = rng.random(len(items)) < 1 / (1 + np.exp(-odds))
        values = np.where(follows, '"culture"', '"preference"').tolist()
        shown = np.array(conditions)[order[config]].tolist()
        yield "".join(
            line % (respondent, item, condition, sample, value)
            for item, condition, value in zip(items.tolist(), shown, values, strict=True)
        )


def _models(project: Project) -> list[int]:
    return [
        get_respondent(
            project=project,
            kind=RespondentKind.MODEL,
            key=f"model:{name}",
            attributes={"model": name, "endpoint": "bench", "persona": False},
        ).pk
        for name in MODELS
    ]


def _conditions(project: Project) -> list[list[int]]:
    """For each configuration the conditions of its two orders of options."""
    common = {"prompt": "case v1", "temperature": 0}
    return [
        [get_condition(project=project, factors=common | {"config": c, "option_order": order}).pk for order in ORDERS]
        for c in CONFIGS
    ]


@contextmanager
def _bare_answers() -> Iterator[None]:
    """The table of answers without its indexes, but for the primary key; no foreign key is checked."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index "
            "WHERE indrelid = %s::regclass AND NOT indisprimary",
            [Response._meta.db_table],
        )
        indexes = cursor.fetchall()
        for name, _ in indexes:
            cursor.execute(f"DROP INDEX {name}")
        cursor.execute(f"TRUNCATE {Response._meta.db_table} CASCADE")
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute("SET LOCAL maintenance_work_mem = '512MB'")
        yield
        for _, definition in indexes:
            cursor.execute(definition)


def _copy(model: type[Model], columns: str, blocks: Iterable[str]) -> None:
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY {model._meta.db_table} ({columns}) FROM STDIN") as copy,
    ):
        for block in blocks:
            copy.write(block)
