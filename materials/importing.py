"""Imports items, all or none, and says what is wrong with each row that is refused.

An item never changes once it is there, because answers refer to what was asked: the same id with the same content is
left as it is, with other content it is refused.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import connection, transaction
from psycopg.types.json import Jsonb

from materials.models import Dataset
from materials.reading import Record
from materials.reading_faults import Fault
from materials.reading_plan import Plan
from projects.models import Project, User
from projects.services import audit

MAX_FAULTS = 10_000  # listed; wrong rows past them are still counted
MAX_SLUG_CHARACTERS = 80
ITEMS_IMPORTED = "items imported"
BATCH_CHARACTERS = 2_000_000
MAX_FIELDS = 1000  # whose order is kept; JSON lines may have other keys in each line


@dataclass(frozen=True, slots=True)
class Imported:
    dataset: Dataset
    made_dataset: bool
    added: int
    unchanged: int
    skipped: int = 0


class ImportRefusedError(Exception):
    """Nothing was imported. `faults` lists what is wrong by row, `total` counts it."""

    def __init__(self, faults: list[Fault], total: int) -> None:
        super().__init__(f"Nothing was imported: {total:,} fault{'' if total == 1 else 's'}.")
        self.faults = sorted(faults)
        self.total = total


@transaction.atomic
def import_items(
    *,
    project: Project,
    dataset_slug: str,
    records: Iterable[Record | Fault],
    source: str,
    by: User | None,
    plan: Plan | None = None,
    run_id: int | None = None,
    dry_run: bool = False,
    watch: Callable[[int], None] = lambda rows: None,
) -> Imported:
    """Add the records as items to the dataset, which is made when it is missing. All or none.

    `source` (a file's name) goes into each item's lineage with its row, and the run's id where there is one. The plan
    says which records are skipped because others are there already. A dry run leaves nothing behind. `watch` hears how
    many rows were read and may raise. Raises ImportRefusedError with every fault.
    """
    plan = plan or Plan()
    dataset, made = _get_dataset(project, dataset_slug)
    order = dict.fromkeys(dataset.field_order)
    faults, total = _copy(records, order, watch)
    skipped = _skip(dataset, plan)
    conflicts = _conflicts(dataset)
    if faults or conflicts:
        raise ImportRefusedError((faults + conflicts)[:MAX_FAULTS], total + len(conflicts))
    if dry_run:
        added, unchanged = _counts(dataset)
        transaction.set_rollback(True)
        return Imported(dataset, made, added, unchanged, skipped)
    origin = {"source": source} | ({"import": run_id} if run_id else {})
    added, unchanged = _insert(dataset, origin)
    if len(order) > len(dataset.field_order):
        dataset.field_order = list(order)[:MAX_FIELDS]
        dataset.save(update_fields=["field_order"])
    audit(project=project, user=by, action=ITEMS_IMPORTED, dataset=dataset_slug, added=added, **origin)
    return Imported(dataset, made, added, unchanged, skipped)


def _get_dataset(project: Project, slug: str) -> tuple[Dataset, bool]:
    try:
        validate_slug(slug)
    except ValidationError as error:
        what = f"{slug!r} cannot name a dataset; use letters, digits, hyphens and underscores."
        raise ImportRefusedError([Fault(0, "", what)], 1) from error
    if len(slug) > MAX_SLUG_CHARACTERS:
        what = f"a dataset's name has at most {MAX_SLUG_CHARACTERS} characters, and this one has {len(slug)}."
        raise ImportRefusedError([Fault(0, "", what)], 1)
    dataset, made = Dataset.objects.get_or_create(project=project, slug=slug, defaults={"name": slug})
    # Two imports into one dataset must queue up, or both would draw the same positions.
    # Rows that refer to the dataset can be written meanwhile.
    return Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk), made


def _copy(
    records: Iterable[Record | Fault], order: dict[str, None], watch: Callable[[int], None]
) -> tuple[list[Fault], int]:
    """Stream the records into a temporary table; the faults among them, capped, and how many there are.

    Fields that are new are added to `order`.
    """
    faults: list[Fault] = []
    total = rows = 0
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS incoming_item")
        cursor.execute(
            "CREATE TEMPORARY TABLE incoming_item"
            " (line bigint, external_id text, content jsonb, content_hash text, lineage jsonb) ON COMMIT DROP"
        )
        # Between batches the connection is free: whoever makes the records may read them with it.
        for batch in _batches(records):
            found = [entry for entry in batch if isinstance(entry, Fault)]
            faults += found[: MAX_FAULTS - len(faults)]
            total += len(found)
            with cursor.copy(
                "COPY incoming_item (line, external_id, content, content_hash, lineage) FROM STDIN"
            ) as copy:
                for record in batch:
                    if isinstance(record, Fault):
                        continue
                    digest = hashlib.sha256(record.content.encode()).hexdigest()
                    copy.write_row((record.row, record.external_id, record.content, digest, record.lineage))
                    if len(order) < MAX_FIELDS:
                        order |= dict.fromkeys(record.fields)
            rows += len(batch)
            watch(rows)
        cursor.execute("ANALYZE incoming_item")
    return faults, total


def _batches(records: Iterable[Record | Fault]) -> Iterator[list[Record | Fault]]:
    batch: list[Record | Fault] = []
    characters = 0
    for record in records:
        batch.append(record)
        characters += 1000 if isinstance(record, Fault) else 200 + len(record.content)
        if characters > BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    yield batch


# Without the fields of the id, which differ where the rest is the same.
SAME_CONTENT = """
DELETE FROM incoming_item AS incoming USING (
    SELECT line, row_number() OVER (PARTITION BY content - %(ids)s::text[] ORDER BY line) AS nth,
           content - %(ids)s::text[] AS kept, external_id FROM incoming_item) AS numbered
WHERE incoming.line = numbered.line AND (nth > 1 OR EXISTS (
    SELECT FROM materials_item AS item WHERE item.dataset_id = %(dataset)s
    AND item.content - %(ids)s::text[] = numbered.kept AND item.external_id <> numbered.external_id))"""
SAME_ID = """
DELETE FROM incoming_item AS incoming USING (
    SELECT line, external_id, content, row_number() OVER (PARTITION BY external_id ORDER BY line) AS nth
    FROM incoming_item) AS numbered
WHERE incoming.line = numbered.line AND (nth > 1 OR EXISTS (
    SELECT FROM materials_item AS item WHERE item.dataset_id = %(dataset)s
    AND item.external_id = numbered.external_id AND item.content <> numbered.content))"""


def _skip(dataset: Dataset, plan: Plan) -> int:
    """Drop the records that the plan skips because an earlier one, or an item, is like them; how many they are."""
    skipped = 0
    with connection.cursor() as cursor:
        if plan.same_content == "skip":
            cursor.execute(SAME_CONTENT, {"ids": plan.id_names, "dataset": dataset.pk})
            skipped += cursor.rowcount
        if plan.same_id == "skip" or plan.id_from_content:
            cursor.execute(SAME_ID, {"dataset": dataset.pk})
            skipped += cursor.rowcount
    return skipped


TWICE = """
SELECT line, external_id, first FROM (
    SELECT line, external_id, min(line) OVER (PARTITION BY external_id) AS first,
           row_number() OVER (PARTITION BY external_id ORDER BY line) AS nth FROM incoming_item) AS numbered
WHERE nth > 1 ORDER BY line LIMIT %s"""
CHANGED = """
SELECT incoming.line, incoming.external_id FROM incoming_item AS incoming
JOIN materials_item AS item ON item.dataset_id = %s AND item.external_id = incoming.external_id
WHERE item.content <> incoming.content ORDER BY incoming.line LIMIT %s"""


def _conflicts(dataset: Dataset) -> list[Fault]:
    with connection.cursor() as cursor:
        cursor.execute(TWICE, [MAX_FAULTS])
        twice = [
            Fault(line, "id", f"the id {external_id} stands in row {first} already.")
            for line, external_id, first in cursor.fetchall()
        ]
        cursor.execute(CHANGED, [dataset.pk, MAX_FAULTS])
        changed = [
            Fault(line, "id", f"the dataset has an item {external_id} with other content; give this one another id.")
            for line, external_id in cursor.fetchall()
        ]
    return twice + changed


INSERT = """
INSERT INTO materials_item (dataset_id, external_id, content, content_hash, lineage, position, created_at)
SELECT %(dataset)s, incoming.external_id, incoming.content, incoming.content_hash,
       %(source)s || jsonb_build_object('row', incoming.line) || incoming.lineage, %(first)s + incoming.line, now()
FROM incoming_item AS incoming
WHERE NOT EXISTS (SELECT FROM materials_item AS item
                  WHERE item.dataset_id = %(dataset)s AND item.external_id = incoming.external_id)
ORDER BY incoming.line"""


def _counts(dataset: Dataset) -> tuple[int, int]:
    """How many items would be added, and how many are there already."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) - count(item.id), count(item.id) FROM incoming_item AS incoming LEFT JOIN materials_item"
            " AS item ON item.dataset_id = %s AND item.external_id = incoming.external_id",
            [dataset.pk],
        )
        added, unchanged = cursor.fetchone()
        return added, unchanged


def _insert(dataset: Dataset, origin: dict[str, Any]) -> tuple[int, int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM incoming_item")
        total = cursor.fetchone()[0]
        cursor.execute("SELECT coalesce(max(position), 0) FROM materials_item WHERE dataset_id = %s", [dataset.pk])
        parameters: dict[str, Any] = {
            "dataset": dataset.pk,
            "source": Jsonb(origin),
            "first": cursor.fetchone()[0],
        }
        cursor.execute(INSERT, parameters)
        return cursor.rowcount, total - cursor.rowcount
