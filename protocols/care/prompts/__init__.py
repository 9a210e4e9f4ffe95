"""CARE's prompts in this project's own words: files named `<name>.v<version>.<role>.jinja`. A published one never
changes; a change is a new version.

Those for tones see `item.text`, `item.title` (of the news) and `condition.tones`: by tone its `definition` and
`example`. The one for attitudes sees `item.tone`, `item.definition` and `item.example`. The one for simulation sees
`item.title`, `item.article`, `item.community`, `item.topic`, `item.geopath` and `condition.setting`: what it may say of
the community, as a list that is empty for the blind setting.
"""

from pathlib import Path

_FOLDER = Path(__file__).parent
_ROLES = ("system", "user")


def prompt_files(name: str, version: int = 1) -> tuple[Path, ...]:
    """The files of the prompt's system and user text."""
    return tuple(_FOLDER / f"{name}.v{version}.{role}.jinja" for role in _ROLES)


def prompt_texts(name: str, version: int = 1) -> dict[str, str]:
    """The prompt's texts by role; raises FileNotFoundError where there is none."""
    return dict(zip(_ROLES, (path.read_text(encoding="utf-8") for path in prompt_files(name, version)), strict=True))
