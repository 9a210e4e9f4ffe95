"""What a call asks for besides its messages, and what a reply makes of it; the same whichever way it was asked."""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any, cast

from llm.models import Call, Job
from llm.reading.logprobs import MAX_ALTERNATIVES
from llm.reading.parsing import AnswerMode, answer_schema, parse_reply
from llm.reading.probabilities import option_probabilities
from llm.running.ledger import Outcome
from llm.servers.endpoint_config import Parameters
from llm.servers.replies import Reply

Schema = dict[str, Any]

SCHEMA_MODES = frozenset({"auto", "json"})
MOST_SHOWN_AGAIN = 2000  # characters of an answer that could not be read
MOST_PROBLEM = 500


@dataclass
class Spent:
    """HTTP requests, and the tokens that the server counted in their answers; None while it counted none."""

    requests: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None

    def add(self, reply: Reply) -> None:
        self.requests += 1
        for name in ("prompt_tokens", "completion_tokens"):
            if (tokens := getattr(reply, name)) is not None:
                setattr(self, name, (getattr(self, name) or 0) + tokens)


def parameters_of(job: Job) -> Parameters:
    return Parameters(
        temperature=job.temperature,
        max_tokens=job.max_tokens,
        top_p=job.top_p,
        seed=job.seed,
        top_logprobs=MAX_ALTERNATIVES if job.logprobs else None,
    )


def schema_of(job: Job, call: Call) -> Schema | None:
    """The schema that the call's answer is to follow; None where the answer is to be words."""
    return answer_schema(job.questions, call.orders) if job.answer_mode in SCHEMA_MODES else None


def outcome_of(job: Job, call: Call, reply: Reply, spent: Spent) -> Outcome:
    """What becomes of the call when this is its last reply. `spent`: by all of its tries, this one among them."""
    fields = {
        "fingerprint": call.fingerprint,
        "messages": call.messages,
        "reply": reply.raw,
        "text": reply.text,
        "reasoning": reply.reasoning,
        "attempts": spent.requests,
        "prompt_tokens": spent.prompt_tokens,
        "completion_tokens": spent.completion_tokens,
        "latency_seconds": reply.latency_seconds,
        "problem": reply.error[:MOST_PROBLEM],
    }
    if reply.status != "ok":
        return Outcome(call, Call.Status(reply.status), fields)
    mode, sentence = cast(AnswerMode, job.answer_mode), job.answer_sentence
    parsed = parse_reply(
        reply.text, job.questions, call.orders, content=call.item.content, mode=mode, sentence=sentence
    )
    if parsed.status != "ok":
        return Outcome(call, Call.Status.UNPARSED, fields | {"problem": parsed.problem[:MOST_PROBLEM]})
    fields |= {"values": parsed.values, "parse_mode": parsed.mode}
    return Outcome(call, Call.Status.OK, fields | {"probabilities": _probabilities(job, call, reply, parsed.values)})


def asked_again(text: str, problem: str) -> list[dict[str, str]]:
    """What follows an answer that could not be read. Of a long one the model sees both ends."""
    half = MOST_SHOWN_AGAIN // 2
    shown = text if len(text) <= MOST_SHOWN_AGAIN else f"{text[:half]}\n[…]\n{text[-half:]}"
    return [
        {"role": "assistant", "content": shown},
        {"role": "user", "content": f"That answer could not be read. {problem} Answer again."},
    ]


def _probabilities(job: Job, call: Call, reply: Reply, answered: Collection[str]) -> dict[str, Any] | None:
    """As `llm.reading.probabilities` has them, by the code of each answered question; None without any."""
    if not (job.logprobs and reply.logprobs):
        return None
    found = {}
    for question in job.questions:
        if question.code in answered:
            probabilities, _ = option_probabilities(
                reply.logprobs,
                question,
                call.orders.get(question.code, ()),
                content=call.item.content,
                mode=cast(AnswerMode, job.answer_mode),
                sentence=job.answer_sentence,
                text=reply.text,
            )
            if probabilities is not None:
                found[question.code] = asdict(probabilities)
    return found or None
