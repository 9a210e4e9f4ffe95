"""CARE's prompts in this project's own words: files named `<name>.v<version>.<role>.jinja`. A published one never
changes; a change is a new version.

Those for tones see `item.text`, `item.title` (of the news) and `condition.tones`: by tone its `definition` and
`example`. The one for attitudes sees `item.tone`, `item.definition` and `item.example`. The one for simulation sees
`item.title`, `item.article`, `item.community`, `item.topic`, `item.geopath` and `condition.setting`: what it may say of
the community, as a list that is empty for the blind setting.
"""

from pathlib import Path

FOLDER = Path(__file__).parent
