"""From a job's grid to the rows of its ledger: respondents, conditions and the order of options of each call."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from llm.models import Endpoint, Job
from llm.planning.grid import Cell
from llm.planning.orders import Orders, call_orders
from materials.models import Item
from materials.questions import order_factor
from responses.models import Respondent, RespondentKind
from responses.services import get_condition, get_respondent

MOST_DRAWN = 4  # options, whose drawn order is a factor


def persona_digest(persona: Mapping[str, Any]) -> str:
    canonical = json.dumps(persona, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:16] if persona else "none"


def model_respondent(endpoint: Endpoint, persona: Mapping[str, Any]) -> Respondent:
    """The respondent that the endpoint's model is when it answers as this persona ({}: as itself)."""
    return get_respondent(
        project=endpoint.project,
        kind=RespondentKind.MODEL,
        key=_key(endpoint, persona),
        attributes={"model": endpoint.model, "endpoint": endpoint.name, "persona": bool(persona), **persona},
        demo_model=endpoint.demo_model,
    )


def orders_of(job: Job, item: Item, cell: Cell, sample: int) -> Orders:
    """The order in which a call shows the options; drawn ones differ by item, persona, condition and sample."""
    levels = "/".join(["", *cell.names.values()]) + (f"/prompt {cell.prompt}" if cell.prompt else "")
    key = f"{job.seed}/{item.external_id}/{persona_digest(cell.persona)}/{sample}{levels}"
    return call_orders(job.questions, job.option_orders, cell.order, key=key)


def call_factors(job: Job, cell: Cell, orders: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The factors of the condition under which the call is answered."""
    factors: dict[str, Any] = {"prompt": str(job.prompt_list[cell.prompt]), **cell.names}
    factors |= {"temperature": job.temperature, "top_p": job.top_p}
    if job.temperature > 0:  # else a second job's samples would pass for the first one's
        factors["seed"] = job.seed
    if job.answer_mode != "auto":
        factors["answer_mode"] = job.answer_mode
    # Drawn orders of many options hardly repeat: each would be a condition of its own. The call's row has them anyway.
    if job.option_orders != Job.OptionOrders.DRAWN or all(len(order) <= MOST_DRAWN for order in orders.values()):
        factors |= order_factor(orders)
    return factors


class Expander:
    """Makes the call rows of one job; respondents and conditions are looked up once."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._respondents: dict[str, int] = {}
        self._conditions: dict[str, int] = {}

    def calls(self, ranked: Iterable[tuple[int, Item]]) -> Iterator[dict[str, Any]]:
        """All calls of the job's items, given with their rank in the job: conditions within samples within items."""
        grid = self._job.grid
        for rank, item in ranked:
            cells = [grid[number] for number in grid.of_item(rank)]
            for sample in range(self._job.samples):
                for cell in cells:
                    yield self.call(item, cell, sample)

    def call(self, item: Item, cell: Cell, sample: int = 0) -> dict[str, Any]:
        """The fields of one call, as llm.running.ledger.write takes them."""
        orders = orders_of(self._job, item, cell, sample)
        return {
            "item_id": item.pk,
            "respondent_id": self._respondent(cell.persona),
            "condition_id": self._condition(call_factors(self._job, cell, orders)),
            "sample": sample,
            "cell": cell.number,
            "orders": orders,
        }

    def _respondent(self, persona: Mapping[str, Any]) -> int:
        if not self._respondents:
            keys = [_key(self._job.endpoint, persona) for persona in self._job.personas]
            found = Respondent.objects.filter(project_id=self._job.project_id, key__in=keys)
            self._respondents = dict(found.values_list("key", "pk"))
        key = _key(self._job.endpoint, persona)
        if key not in self._respondents:
            self._respondents[key] = model_respondent(self._job.endpoint, persona).pk
        return self._respondents[key]

    def _condition(self, factors: Mapping[str, Any]) -> int:
        key = json.dumps(factors, sort_keys=True)
        if key not in self._conditions:
            self._conditions[key] = get_condition(project=self._job.project, factors=factors).pk
        return self._conditions[key]


def _key(endpoint: Endpoint, persona: Mapping[str, Any]) -> str:
    return f"model:{endpoint.pk}:{persona_digest(persona)}"
