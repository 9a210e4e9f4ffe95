"""An item with everyone's answers."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from materials.content import ordered
from materials.item_parts import item_parts
from materials.models import Instrument, Item
from projects.access import READERS, project_view
from projects.models import Project
from responses.distributions import distributions
from responses.models import Response
from responses.querysets import keyset_page, value_counts
from responses.showing import shown

LATEST_ROWS = 100


@project_view(*READERS)
def item(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    found = get_object_or_404(Item.objects.select_related("dataset"), pk=pk, dataset__project=project)
    counts = value_counts(found)
    instruments = Instrument.objects.in_bulk({count["instrument_id"] for count in counts})
    page = keyset_page(
        Response.objects.filter(item=found, superseded_by=None), before=None, after=None, size=LATEST_ROWS
    )
    context = {
        "project": project,
        "nav": "materials",
        "item": found,
        "parts": item_parts(dict(ordered(found.content, found.dataset.field_order)), []),
        "total": sum(count["n"] for count in counts),
        "distributions": distributions(counts, instruments, found.content),
        "rows": shown(page.rows, instruments),
    }
    return render(request, "responses/item.html", context)
