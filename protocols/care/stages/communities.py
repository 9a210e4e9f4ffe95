"""Which communities are studied, and what a person says of each: its topic and its place."""

from collections import Counter
from collections.abc import Iterable, Iterator

from pydantic import Field

from materials.models import Dataset
from protocols.care.communities import scope, topics
from protocols.care.published import MIN_MONTHS, MIN_POSTS_PER_MONTH, MOST_SHARING
from protocols.care.stages.deciding import NAMED, NOT_DECIDED, ask_people, collected, decisions, outcome
from protocols.care.stages.lineage import of
from protocols.context import Made, StageContext
from protocols.stages import Stage, StageError, StageResult, StageSettings

INACTIVE = "too few posts in too few months"
NOT_SHARING = "not among those that share most articles"
GEOPATH_HELP = "GLOBAL, or a country and its parts in capitals: US, US-CA, US-CA-CITY+ with what surrounds it."
HEADLINES = 5


class CommunitySettings(StageSettings):
    posts_a_month: int = Field(default=MIN_POSTS_PER_MONTH, ge=1, description="Posts a month, at least.")
    months: int = Field(default=MIN_MONTHS, ge=1, le=12, description="In so many months, at least.")
    most_sharing: int = Field(
        default=MOST_SHARING,
        ge=1,
        description="Communities that share most articles: the number of articles that another community posted too; "
        "ties by the number of articles, then by name.",
    )


def choose_communities(ctx: StageContext) -> StageResult:
    from protocols.care import sampling
    from protocols.care.stages.frames import posts_frame

    rules = ctx.settings
    posts = posts_frame(ctx, "corpus")
    active = set(sampling.active_communities(posts, min_posts_per_month=rules.posts_a_month, min_months=rules.months))
    sharing = sampling.article_sharing(posts)
    sharing["posts"] = posts.groupby("community").size()
    sharing["months"] = posts.groupby("community")["month"].nunique()
    everyone = []
    for rank, row in enumerate(sharing.reset_index().to_dict("records"), start=1):
        community = row["community"]
        content = {
            "community": community,
            "posts": row["posts"],
            "months": row["months"],
            "articles": row["n"],
            "shared_articles": row["shared"],
            "sharing_rank": rank,
            "active": community in active,
            "shares_most": rank <= rules.most_sharing,
        }
        everyone.append(Made(community, content, {"dataset": ctx.output("corpus")["dataset"]}))
    pool = sorted(made for made in everyone if made.content["active"] and made.content["shares_most"])
    if not pool:
        raise StageError("No community is left; lower the posts a month or the months, or raise the number that share.")
    left_out = Counter(INACTIVE if not made.content["active"] else NOT_SHARING for made in everyone if made not in pool)
    dataset, all_of_them = ctx.make_dataset(pool), ctx.make_dataset(everyone, part="all")
    outputs = {"dataset": dataset.slug, "table_all": all_of_them.slug}
    return StageResult(outputs, len(everyone), len(pool), dict(left_out))


def ask_for_topics(ctx: StageContext) -> StageResult:
    titles = headlines(ctx)
    items = (
        Made(
            item.external_id,
            {"community": item.external_id, "posts": item.content["posts"], "headlines": titles[item.external_id]},
            of(item),
        )
        for item in ctx.items("communities")
    )
    questions = [
        {
            "kind": "choice",
            "code": "topic",
            "text": "What is the community about?",
            "options": [{"code": code, "text": text} for code, text in topics().items()],
        },
        {
            "kind": "text",
            "code": "geopath",
            "text": "Which place is it of?",
            "help": GEOPATH_HELP,
            "multiline": False,
            "max_length": 80,
        },
    ]
    fields = [
        "community",
        {"field": "posts", "label": "Posts in the corpus"},
        {"field": "headlines", "label": "Headlines"},
    ]
    return ask_people(
        ctx,
        items,
        with_topics,
        instrument="care-topics",
        title="Topic and place",
        questions=questions,
        item_fields=fields,
    )


def with_topics(ctx: StageContext, dataset: Dataset) -> StageResult:
    """Communities with both answers go on. Raises StageError for geopaths that are none."""
    known = decisions(ctx, ctx.stage.code)
    made, faults, left_out = [], [], 0
    for item in dataset.items.order_by("position", "pk"):
        values = known.get(item.external_id, {})
        if not {"topic", "geopath"} <= set(values):
            left_out += 1
            continue
        geopath = values["geopath"].strip().upper()
        try:
            place = scope(geopath)
        except ValueError as error:
            faults.append(f"{item.external_id}: {error}")
            continue
        content = {
            "community": item.external_id,
            "topic": topics()[values["topic"]],
            "geopath": geopath,
            "scope": place,
        }
        made.append(Made(item.external_id, content, of(item)))
    if faults:
        raise StageError(f"Correct the answers on these communities. {' '.join(faults[:NAMED])}")
    result = outcome(ctx, made, left_out, {NOT_DECIDED: left_out})
    return result._replace(outputs={**result.outputs, "table": ctx.make_dataset(_joint(made), part="table").slug})


def _joint(communities: Iterable[Made]) -> Iterator[Made]:
    """How many communities there are of each topic and scope, the joint distribution of both."""
    counts = Counter((made.content["topic"], made.content["scope"]) for made in communities)
    for (topic, place), n in sorted(counts.items()):
        yield Made(f"{topic}/{place}", {"topic": topic, "scope": place, "communities": n}, {})


def headlines(ctx: StageContext) -> dict[str, list[str]]:
    """By community the first titles of its posts, each once."""
    found: dict[str, list[str]] = {}
    for item in ctx.items("corpus"):
        titles = found.setdefault(item.content["community"], [])
        if len(titles) < HEADLINES and item.content["title"] not in titles:
            titles.append(item.content["title"])
    return found


COMMUNITIES = Stage(
    code="communities",
    title="Communities",
    says="Keeps communities that were on the topic for most of the year and share articles with others. The table of "
    "all has both criteria, the rank and the number of shared articles of each.",
    kind="transformation",
    needs=("corpus",),
    settings=CommunitySettings,
    run=choose_communities,
)
TOPICS = Stage(
    code="topics",
    title="Topics and places",
    says="Gives each community one of ten topics and a geopath, the way from a country to a part of it. The table "
    "counts topics by continent.",
    kind="labelling",
    needs=("corpus", "communities"),
    decides="One person, for each community: its topic and its geopath.",
    run=ask_for_topics,
    collect=collected(with_topics),
)
