"""The forms of the import wizard: a file, how it is read, and its columns."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from materials.forms import short_name
from materials.reading_plan import Column, Plan, Source
from materials.reading_source import DELIMITERS, ENCODINGS

MAX_UPLOAD_BYTES = 2 << 30
MAX_NAME_CHARACTERS = 200

TYPES = {
    "keep": "As in the file",
    "text": "Text",
    "number": "Number",
    "list": "List",
    "json": "JSON",
}


class UploadForm(forms.Form):
    dataset = short_name(
        "a dataset",
        help_text="The short name of a dataset that is there, or of a new one: letters, digits, hyphens, underscores.",
    )
    file = forms.FileField(help_text="CSV, TSV, JSON, JSON lines, Parquet or Excel (.xlsx), at most 2 GB.")

    def clean_file(self) -> UploadedFile:
        file: UploadedFile = self.cleaned_data["file"]
        if (file.size or 0) > MAX_UPLOAD_BYTES:
            raise forms.ValidationError(
                "The file is larger than 2 GB; use manage.py import_items, which takes any size."
            )
        return file


class SourceForm(forms.Form):
    """How the file is read: the fields that its format has. `source` is what was chosen."""

    encoding = forms.ChoiceField(choices=list(ENCODINGS.items()))
    delimiter = forms.ChoiceField(choices=list(DELIMITERS.items()), label="Cells are divided by")
    sheet = forms.ChoiceField()
    header = forms.BooleanField(required=False, label="The first row names the columns")

    def __init__(self, data: Mapping[str, Any] | None, *, source: Source, sheets: Sequence[str]) -> None:
        super().__init__(data, initial=source.model_dump())
        self._source = source
        kept = {"csv": ["encoding", "delimiter", "header"], "xlsx": ["sheet", "header"], "parquet": []}
        for name in set(self.fields) - set(kept.get(source.format, ["encoding"])):
            del self.fields[name]
        if "sheet" in self.fields:
            self.fields["sheet"] = forms.ChoiceField(choices=[(name, name) for name in sheets])

    @property
    def source(self) -> Source:
        return self._source.model_copy(update=self.cleaned_data)


class ColumnForm(forms.Form):
    """One column of the file. Its fields have no visible labels: the table's header and first cell name them."""

    take = forms.BooleanField(required=False)
    is_id = forms.BooleanField(required=False)
    name = forms.CharField(required=False, max_length=MAX_NAME_CHARACTERS)
    type = forms.ChoiceField(choices=list(TYPES.items()))

    def __init__(self, *args: Any, column: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.column = column
        words = {"take": "Take", "is_id": "ID:", "name": "New name of", "type": "Type of"}
        for name, field in self.fields.items():
            field.widget.attrs["aria-label"] = f"{words[name]} {column}"

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("take") and not data.get("name"):
            self.add_error("name", f"Give {self.column} a name, or do not take it.")
        return data


class RulesForm(forms.Form):
    """Where the id comes from, and what happens with rows that are there already."""

    id_from = forms.ChoiceField(
        label="Each item's ID is",
        choices=[
            ("columns", "in the columns ticked under “ID”, joined with “/”"),
            ("content", "made from its content: the same content is the same item"),
        ],
        widget=forms.RadioSelect,
    )
    same_id = forms.ChoiceField(
        label="A row whose ID an earlier row or an item has, with other content",
        help_text="A row that is there with the same content is never imported twice, and no item is ever overwritten.",
        choices=[("refuse", "is a fault: nothing is imported"), ("skip", "is skipped: the first one stays")],
        widget=forms.RadioSelect,
    )
    same_content = forms.ChoiceField(
        label="A row whose content an earlier row or an item has, with another ID",
        choices=[("keep", "is an item of its own"), ("skip", "is skipped")],
        widget=forms.RadioSelect,
    )


class PlanForm:
    """All of the second step: `rules` and a form for each column. `plan` is what was chosen."""

    def __init__(self, data: Mapping[str, Any] | None, *, plan: Plan, columns: Sequence[str]) -> None:
        self._plan = plan
        chosen = {column.source: column for column in plan.columns}
        self.rules = RulesForm(
            data,
            initial={
                "id_from": "content" if plan.id_from_content else "columns",
                "same_id": plan.same_id,
                "same_content": plan.same_content,
            },
        )
        self.columns = [
            ColumnForm(
                data,
                prefix=f"column-{number}",
                column=name,
                initial={
                    "take": name not in plan.left_out,
                    "is_id": name in plan.id_columns,
                    "name": chosen[name].name if name in chosen else name,
                    "type": chosen[name].type if name in chosen else "keep",
                },
            )
            for number, name in enumerate(columns)
        ]
        self.problems: list[dict[str, str]] = []

    def is_valid(self) -> bool:
        """Whether all of it can be done; otherwise `problems` says what cannot, and at which field."""
        for form in (self.rules, *self.columns):
            for name, errors in form.errors.items():
                self.problems += [{"text": str(error), "target": form[name].id_for_label} for error in errors]
        if not self.problems:
            self.problems = list(self._contradictions())
        return not self.problems

    @property
    def plan(self) -> Plan:
        taken = [form for form in self.columns if form.cleaned_data["take"]]
        from_content = self.rules.cleaned_data["id_from"] == "content"
        return Plan(
            source=self._plan.source,
            id_columns=() if from_content else tuple(self._ids()),
            id_from_content=from_content,
            columns=tuple(
                Column(source=form.column, name=form.cleaned_data["name"], type=form.cleaned_data["type"])
                for form in taken
            ),
            left_out=tuple(form.column for form in self.columns if form not in taken),
            same_id=self.rules.cleaned_data["same_id"],
            same_content=self.rules.cleaned_data["same_content"],
        )

    def _ids(self) -> list[str]:
        return [form.column for form in self.columns if form.cleaned_data["is_id"]]

    def _contradictions(self) -> Iterator[dict[str, str]]:
        if not self.columns:
            yield {"text": "No row of the file could be read, so there is nothing to import.", "target": ""}
            return
        names: set[str] = set()
        for form in self.columns:
            if form.cleaned_data["take"]:
                name = form.cleaned_data["name"]
                if name in names:
                    yield {"text": f"Two columns are named {name}; rename one.", "target": form["name"].id_for_label}
                names.add(name)
        if not names:
            yield {"text": "Take at least one column.", "target": self.columns[0]["take"].id_for_label}
        if self.rules.cleaned_data["id_from"] == "columns" and not self._ids():
            what = "Tick the column, or the columns, that hold the ID, or have it made from the content."
            yield {"text": what, "target": self.columns[0]["is_id"].id_for_label}
