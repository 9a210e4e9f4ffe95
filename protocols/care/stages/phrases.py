"""Which keyphrases matter to many communities, which of them people keep, and the posts that have one."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from pydantic import Field

from materials.models import Dataset, Item
from protocols.care.published import MOST_SALIENT
from protocols.care.stages.deciding import NOT_DECIDED, ask_people, collected, decisions, outcome
from protocols.care.stages.lineage import of
from protocols.context import Made, StageContext
from protocols.stages import Stage, StageError, StageResult, StageSettings

MAX_ID_CHARACTERS = 200
HEADLINES = 5
OUTSIDE = "of a community that is not studied"
NO_PHRASE = "no kept keyphrase"
LESS_SALIENT = "less salient"


class SalienceSettings(StageSettings):
    most: int = Field(default=MOST_SALIENT, ge=1, description="Keyphrases that go on to the review, at most.")
    alpha: float = Field(default=1, ge=0, le=10, description="Power of the logarithm of the number of posts.")
    beta: float = Field(default=1, ge=0, le=10, description="Power of the share of communities.")


def find_salient(ctx: StageContext) -> StageResult:
    """Cells of the count matrix: posts of the community whose article has the keyphrase among its own."""
    import pandas as pd

    from protocols.care.salience import ranked_keyphrases

    phrases = {item.external_id: item.content["keyphrases"] for item in ctx.items("keyphrases")}
    pool = [item.external_id for item in ctx.items("communities")]
    counts: Counter[tuple[str, str]] = Counter()
    first: dict[str, str] = {}
    titles: dict[str, list[str]] = {}
    for post in ctx.items("corpus"):
        if post.content["community"] not in pool:
            continue
        for one in phrases.get(post.content["article"], []):
            counts[one["key"], post.content["community"]] += 1
            first.setdefault(one["key"], one["phrase"])
            found = titles.setdefault(one["key"], [])
            if len(found) < HEADLINES and post.content["title"] not in found:
                found.append(post.content["title"])
    rows = [(key, community, n) for (key, community), n in counts.items()]
    frame = pd.DataFrame(rows, columns=["keyphrase", "community", "count"])
    rules = ctx.settings
    ranked: Any = ranked_keyphrases(frame, communities=pool, alpha=rules.alpha, beta=rules.beta).to_dict("records")
    if not ranked:
        raise StageError("No article of the communities has a keyphrase.")
    origin = {"dataset": ctx.output("keyphrases")["dataset"]}

    def numbers(row: dict[str, Any]) -> dict[str, Any]:
        return {
            "phrase": first[row["keyphrase"]],
            "key": row["keyphrase"],
            "salience": round(row["salience"], 4),
            "frequency": row["frequency"],
            "communities": row["spread"],
            "sparsity": round(row["sparsity"], 4),
        }

    candidates = ctx.make_dataset(
        (
            Made(str(rank), numbers(row) | {"chosen": "yes" if rank <= rules.most else ""}, origin)
            for rank, row in enumerate(ranked, start=1)
        ),
        part="all",
    )
    dataset = ctx.make_dataset(
        Made(row["keyphrase"][:MAX_ID_CHARACTERS], numbers(row) | {"headlines": titles[row["keyphrase"]]}, origin)
        for row in ranked[: rules.most]
    )
    less = len(ranked) - dataset.items.count()
    outputs = {"dataset": dataset.slug, "table": dataset.slug, "table_all": candidates.slug}
    return StageResult(outputs, len(ranked), len(ranked) - less, {LESS_SALIENT: less} if less else {})


def ask_for_phrases(ctx: StageContext) -> StageResult:
    items = (Made(item.external_id, item.content, of(item)) for item in ctx.items("salience"))
    questions = [
        {
            "kind": "choice",
            "code": "decision",
            "text": "Does the phrase stay?",
            "help": "Remove what is ambiguous: words that stand for quite different news, such as a weekday.",
            "options": [
                {"code": "keep", "text": "Keep", "hotkey": "k"},
                {"code": "remove", "text": "Remove", "hotkey": "r"},
            ],
        },
        {
            "kind": "text",
            "code": "reason",
            "text": "Why is it removed?",
            "multiline": False,
            "max_length": 200,
            "show_if": {"question": "decision", "any_of": ["remove"]},
        },
    ]
    fields = [
        "phrase",
        {"field": "salience", "label": "Salience"},
        {"field": "frequency", "label": "Posts with it"},
        {"field": "communities", "label": "Communities with it"},
        {"field": "headlines", "label": "Headlines"},
    ]
    return ask_people(
        ctx,
        items,
        kept_phrases,
        instrument="care-keyphrases",
        title="Keyphrases to keep",
        questions=questions,
        item_fields=fields,
        order="fixed",
    )


def kept_phrases(ctx: StageContext, dataset: Dataset) -> StageResult:
    known = decisions(ctx, ctx.stage.code)
    by_decision: dict[str, list[Item]] = {}
    for item in dataset.items.order_by("position", "pk"):
        by_decision.setdefault(known.get(item.external_id, {}).get("decision", NOT_DECIDED), []).append(item)
    kept = [Made(item.external_id, item.content, of(item)) for item in by_decision.pop("keep", [])]
    removed = by_decision.get("remove", [])
    why = {"removed by a person": len(removed), NOT_DECIDED: len(by_decision.get(NOT_DECIDED, []))}
    return outcome(ctx, kept, sum(why.values()), why)


def find_news(ctx: StageContext) -> StageResult:
    """Posts of the studied communities whose article has at least one kept keyphrase among its own."""
    kept = {item.content["key"] for item in ctx.items("phrases")}
    pool = {item.external_id for item in ctx.items("topics")}
    phrases = {
        item.external_id: [one["phrase"] for one in item.content["keyphrases"] if one["key"] in kept]
        for item in ctx.items("keyphrases")
    }
    why: Counter[str] = Counter()

    def found() -> Iterator[Made]:
        for post in ctx.items("corpus"):
            own = phrases.get(post.content["article"], [])
            if post.content["community"] not in pool:
                why[OUTSIDE] += 1
            elif not own:
                why[NO_PHRASE] += 1
            else:
                yield Made(post.external_id, post.content | {"keyphrases": own}, of(post))

    dataset = ctx.make_dataset(found())
    out = dataset.items.count()
    if not out:
        raise StageError("No post has a kept keyphrase; keep more of them.")
    return StageResult({"dataset": dataset.slug}, out + why.total(), out, dict(why))


SALIENCE = Stage(
    code="salience",
    title="Salience of keyphrases",
    says="Ranks keyphrases by how often and in how many of the communities they stand: the logarithm of the posts "
    "with it times the share of communities. The second table has all candidates.",
    kind="transformation",
    needs=("corpus", "keyphrases", "communities"),
    settings=SalienceSettings,
    run=find_salient,
)
PHRASES = Stage(
    code="phrases",
    title="Review of keyphrases",
    says="Shows each salient keyphrase with its counts and headlines, to remove those that are ambiguous.",
    kind="labelling",
    needs=("salience",),
    decides="One person, for each phrase: keep it or remove it, and why.",
    run=ask_for_phrases,
    collect=collected(kept_phrases),
)
NEWS = Stage(
    code="news",
    title="News with a keyphrase",
    says="Keeps posts of the communities whose article has at least one of the kept keyphrases.",
    kind="transformation",
    needs=("corpus", "keyphrases", "topics", "phrases"),
    run=find_news,
)
