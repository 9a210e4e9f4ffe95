"""Before a claimed call is asked: its messages, its fingerprint, and the answer of one that asked the same."""

from collections.abc import Collection
from typing import Any

from llm.models import Call, Job
from llm.planning.costs import call_messages
from llm.prompting.rendering import PromptError
from llm.reading.parsing import answer_schema, parse_reply
from llm.running.fingerprint import fingerprint
from llm.running.ledger import Outcome
from llm.servers.endpoint_config import EndpointConfig
from materials.services import content_hash

REUSED_COLUMNS = ("id", "fingerprint", "text", "reasoning", "probabilities")


def render(job: Job, endpoint: EndpointConfig, call: Call) -> Outcome | None:
    """Give the call its messages and fingerprint; what becomes of it when it cannot be asked, otherwise None."""
    try:
        call.messages = call_messages(job, call.item.content, job.grid[call.cell], call.orders)
    except (PromptError, ValueError) as error:
        return Outcome(call, Call.Status.ERROR, {"problem": str(error)[:500]})
    call.fingerprint = _fingerprint(job, endpoint, call)
    return None


def reused(job: Job, call: Call, earlier: Call) -> Outcome | None:
    """The answer of an equal request, read anew: letters may stand for other codes in another instrument."""
    parsed = parse_reply(
        earlier.text,
        job.questions,
        call.orders,
        content=call.item.content,
        mode=job.mode,
        sentence=job.answer_sentence,
    )
    if parsed.status != "ok":
        return None
    fields: dict[str, Any] = {
        "text": earlier.text,
        "reasoning": earlier.reasoning,
        "values": parsed.values,
        "parse_mode": parsed.mode,
        "probabilities": earlier.probabilities,
        "reused_from": earlier,
        "problem": "",
    }
    return Outcome(call, Call.Status.OK, fields)


def find_answered(job: Job, fingerprints: Collection[str]) -> dict[str, Call]:
    """Answered calls of the job's project that asked the same, by fingerprint; none where answers are drawn."""
    if not job.repeatable:
        return {}
    found = Call.objects.filter(
        fingerprint__in=fingerprints, status=Call.Status.OK, reused_from=None, job__project_id=job.project_id
    )
    return {call.fingerprint: call for call in found.only(*REUSED_COLUMNS).order_by("-id")}


def _fingerprint(job: Job, endpoint: EndpointConfig, call: Call) -> str:
    prompt = job.prompt_list[job.grid[call.cell].prompt]
    parameters = {
        "temperature": job.temperature,
        "max_tokens": job.max_tokens,
        "top_p": job.top_p,
        "seed": job.seed if endpoint.supports_seed else None,
        "schema": answer_schema(job.questions, call.orders),
        "json_mode": endpoint.json_mode,
        "answer_mode": [job.answer_mode, job.answer_sentence],
        "logprobs": job.logprobs and endpoint.supports_logprobs,
    }
    return fingerprint(
        base_url=endpoint.base_url,
        model=endpoint.model,
        messages=call.messages,
        parameters=parameters,
        prompt_version=content_hash({"system": prompt.system, "user": prompt.user}),  # the same in other installations
        sample=call.sample,
    )
