"""The files become items: posts, comments and articles."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from materials.reading_faults import Fault
from protocols.care.reading import read_articles, read_comments, read_posts
from protocols.context import Made, StageContext
from protocols.files import Given, open_given
from protocols.stages import Stage, StageError, StageResult

READERS: dict[str, Callable[[IO[bytes]], Iterator[Any]]] = {
    "posts": read_posts,
    "comments": read_comments,
    "articles": read_articles,
}
NAMED_FAULTS = 20
TWICE = "given a second time"


def read(ctx: StageContext) -> StageResult:
    why: Counter[str] = Counter()
    outputs: dict[str, str] = {}
    out = 0
    for name, reader in READERS.items():
        if name not in ctx.files:
            raise StageError(f"The file of {name} is missing; give it above.")
        dataset = ctx.make_dataset(_made(ctx.files[name], reader, why), part=name)
        outputs[f"dataset_{name}"] = dataset.slug
        out += dataset.items.count()
    return StageResult(outputs, out + why.total(), out, dict(why))


def _made(given: Given, reader: Callable[[IO[bytes]], Iterator[Any]], why: Counter[str]) -> Iterator[Made]:
    """The file's rows; of those with one id the first. Raises StageError for lines that cannot be read, at the end.

    Whoever writes in a shipped file is invented.
    """
    lineage: dict[str, Any] = {"file": given.name, "sha256": given.sha256}
    lineage |= {"simulated": True} if isinstance(given.stored, Path) else {}
    seen: set[str] = set()
    faults: list[Fault] = []
    with open_given(given) as file:
        for entry in reader(file):
            if isinstance(entry, Fault):
                faults.append(entry)
                continue
            number, row = entry
            if row.id in seen:
                why[TWICE] += 1
                continue
            seen.add(row.id)
            yield Made(row.id, row.content, {**lineage, "file_row": number})
    if faults:
        named = " ".join(
            f"Line {fault.row}{f', {fault.column}' if fault.column else ''}: {fault.what}"
            for fault in faults[:NAMED_FAULTS]
        )
        more = f" And {len(faults) - NAMED_FAULTS:,} more." if len(faults) > NAMED_FAULTS else ""
        raise StageError(f"{given.name} was not read, mend these lines or remove them. {named}{more}")


READ = Stage(
    code="read",
    title="Posts, comments and articles",
    says="Reads the three files. Nothing is fetched from anywhere: the text of the articles has to be given.",
    kind="import",
    sources=tuple(READERS),
    run=read,
)
