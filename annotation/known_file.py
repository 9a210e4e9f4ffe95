"""Known answers out of a table: a row for each item with its id, the right answers by question, and why."""

import json
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import IO, Any

from annotation.models import LabelProject
from annotation.right_answers import right_values
from annotation.services.known_answers import NewKnown, lacking_field
from materials.models import Dataset, Item
from materials.questions import AnswerError
from materials.reading import ID_COLUMNS, Fault, Record, read_items

MOST_ROWS = 5000
WHY = "why"


class KnownFileError(ValueError):
    """The file was not taken; `faults` says where and why."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__("No known answer was taken from the file.")
        self.faults = faults


def read_known_answers(
    file: IO[bytes], *, filename: str, label_project: LabelProject, dataset: Dataset
) -> list[NewKnown]:
    """The rows as known answers about items of the dataset. Raises KnownFileError with every fault."""
    entries = list(islice(read_items(file, filename=filename), MOST_ROWS + 1))
    if len(entries) > MOST_ROWS:
        raise KnownFileError([Fault(0, "", f"at most {MOST_ROWS:,} known answers fit; take fewer.")])
    records = [entry for entry in entries if isinstance(entry, Record)]
    items = {item.external_id: item for item in dataset.items.filter(external_id__in=[r.external_id for r in records])}
    faults = [entry for entry in entries if isinstance(entry, Fault)] + _unknown_columns(records, label_project)
    known: dict[str, NewKnown] = {}
    for record in records:
        found = _read(record, items.get(record.external_id), label_project, dataset)
        if isinstance(found, list):
            faults += found
        elif record.external_id in known:
            faults.append(Fault(record.row, "", f"the item {record.external_id} stands there twice."))
        else:
            known[record.external_id] = found
    if faults:
        raise KnownFileError(sorted(faults))
    return list(known.values())


def _unknown_columns(records: Iterable[Record], label_project: LabelProject) -> list[Fault]:
    codes = [question.code for question in label_project.instrument.questionnaire.questions]
    columns = dict.fromkeys(column for record in records for column in record.fields)
    return [
        Fault(0, column, f"this is no question; the columns are an id, {', '.join(codes)} and {WHY}.")
        for column in columns
        if column not in codes and column != WHY and column.lower() not in ID_COLUMNS
    ]


def _read(record: Record, item: Item | None, label_project: LabelProject, dataset: Dataset) -> NewKnown | list[Fault]:
    if item is None:
        return [Fault(record.row, "", f"the dataset {dataset} has no item {record.external_id}.")]
    if field := lacking_field(label_project, item):
        return [Fault(record.row, "", f"the item {item} has no field {field}, which is shown with the questions.")]
    cells: Mapping[str, Any] = json.loads(record.content)
    answers: dict[str, list[Any]] = {}
    faults: list[Fault] = []
    for question in label_project.instrument.questionnaire.questions:
        try:
            answers[question.code] = right_values(question, cells.get(question.code), item.content)
        except AnswerError as error:
            faults.append(Fault(record.row, question.code, error.sentence))
    answers = {code: values for code, values in answers.items() if values}
    if not faults and not answers:
        faults = [Fault(record.row, "", "give the right answer of at least one question.")]
    return faults or NewKnown(item=item, answers=answers, why=str(cells.get(WHY) or ""))
