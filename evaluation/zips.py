"""Zip files that depend on nothing but what is in them. Pure."""

import io
import zipfile
from collections.abc import Mapping

_DAWN = (1980, 1, 1, 0, 0, 0)  # of zip files


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    """A zip file with these texts or bytes, in their order and without a date: equal files give equal bytes."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in files.items():
            file.writestr(zipfile.ZipInfo(name, _DAWN), text, zipfile.ZIP_DEFLATED)
    return content.getvalue()
