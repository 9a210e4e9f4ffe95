"""Named reads of reports."""

from django.db import models


class ReportQuerySet(models.QuerySet["Report"]):  # type: ignore[name-defined]
    def for_list(self) -> "ReportQuerySet":
        """Without the sections, which are most of a report's bytes."""
        return self.defer("sections").select_related("created_by")
