"""`python -m protocols.pact.behaviour`: what models decide and what moves it, from files of prompt cases or exports.

Writes the tables of the study's scripts into eval_metrics_current and appendix_model_behavior, and summary.json with
what was read and left out.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from protocols.pact.behaviour_tables import Tables, appendix_tables, current_tables
from protocols.pact.decisions import UNKNOWN, Decisions, read_decisions
from protocols.pact.reading import FileFaultError


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when all is written, 2 when a file or an option cannot be used; standard error says what was left out."""
    options = _parser().parse_args(arguments)
    try:
        decisions = read_decisions(options.files, question=options.question)
        _write(options.out / "eval_metrics_current", current_tables(decisions.table))
        _write(options.out / "appendix_model_behavior", appendix_tables(decisions.table))
        text = json.dumps(_summary(decisions), indent=2, ensure_ascii=False)
        (options.out / "summary.json").write_text(f"{text}\n", encoding="utf-8")
    except FileFaultError as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{error.filename}: it cannot be written ({error.strerror}).", file=sys.stderr)
        return 2
    if decisions.notes:
        print(*decisions.notes, sep="\n", file=sys.stderr)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m protocols.pact.behaviour", description=__doc__)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="decisions of models, or exports")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where the tables go")
    parser.add_argument("--question", metavar="CODE", help="which question of an export is the decision")
    return parser


def _write(folder: Path, tables: Tables) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)


def _summary(decisions: Decisions) -> dict[str, object]:
    rows = decisions.table.groupby("path").size()
    unknown = (decisions.table["eval_decision"] == UNKNOWN).groupby(decisions.table["path"]).sum()
    files = {path: {"rows": int(rows[path]), "unknown": int(unknown[path])} for path in rows.index}
    main = sorted(set(decisions.table.loc[decisions.table["main"], "path"]))
    return {"files": files, "main_runs": main, "notes": decisions.notes}


if __name__ == "__main__":
    sys.exit(main())
