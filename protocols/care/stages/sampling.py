"""One post of each community and quarter with its reactions, and what was left at each step on the way there."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import Field

from materials.models import Item
from protocols.care.stages.in_step import refuse_stale
from protocols.care.stages.lineage import of
from protocols.context import Made, StageContext
from protocols.stages import Stage, StageResult, StageSettings

NOT_DRAWN = "not drawn"
STEPS = {
    "Corpus": "corpus",
    "Selection of communities": "pool",
    "Sampling by keyphrase": "news",
    "Sampling by quarter": "sample",
}


class SampleSettings(StageSettings):
    seed: int = Field(default=1, description="The draw follows from it: each post of a community and quarter is alike.")
    article_characters: int = Field(
        default=6000, ge=100, le=100_000, description="So much of an article is shown to models that simulate."
    )


def draw(ctx: StageContext) -> StageResult:
    from protocols.care.sampling import quarter_cells, sample_posts
    from protocols.care.stages.frames import posts_frame

    refuse_stale(ctx)
    frame = posts_frame(ctx, "news")
    drawn = set(sample_posts(frame, seed=ctx.settings.seed)["post"])
    posts = [item for item in ctx.items("news") if item.external_id in drawn]
    assert len(posts) == len(quarter_cells(frame))
    dataset = ctx.make_dataset(_with_article(ctx, posts))
    reactions = (item for item in ctx.items("reactions") if item.content["post"] in drawn)
    chosen = ctx.make_dataset((Made(item.external_id, item.content, of(item)) for item in reactions), part="reactions")
    table = ctx.make_dataset(_table(ctx, drawn), part="table")
    outputs = {"dataset": dataset.slug, "dataset_reactions": chosen.slug, "table": table.slug}
    return StageResult(outputs, len(frame), len(drawn), {NOT_DRAWN: len(frame) - len(drawn)})


def _with_article(ctx: StageContext, posts: Iterable[Item]) -> Iterator[Made]:
    about = {item.external_id: item.content for item in ctx.items("topics")}
    articles = ctx.dataset("read", "dataset_articles").items
    for post in posts:
        community = post.content["community"]
        article = articles.get(external_id=post.content["article"]).content
        content = {
            "title": article["title"],
            "article": article["text"][: ctx.settings.article_characters],
            "community": community,
            "topic": about[community]["topic"],
            "geopath": about[community]["geopath"],
            "scope": about[community]["scope"],
            "created_at": post.content["created_at"],
            "quarter": (post.content["month"] + 2) // 3,
            "article_id": post.content["article"],
            "keyphrases": post.content["keyphrases"],
        }
        yield Made(post.external_id, content, of(post))


def _table(ctx: StageContext, drawn: set[str]) -> Iterator[Made]:
    """How many communities, articles, keyphrases, posts and reactions each step left, and how long these are."""
    posts = {item.external_id: item.content for item in ctx.items("corpus")}
    pool = {item.external_id for item in ctx.items("communities")}
    left = {
        "corpus": set(posts),
        "pool": {post for post, content in posts.items() if content["community"] in pool},
        "news": {item.external_id for item in ctx.items("news")},
        "sample": drawn,
    }
    keys = {item.external_id: {one["key"] for one in item.content["keyphrases"]} for item in ctx.items("keyphrases")}
    words = [(item.content["post"], len(item.content["text"].split())) for item in ctx.items("reactions")]
    for title, code in STEPS.items():
        counts = _counts({post: posts[post] for post in left[code]}, keys, words)
        yield Made(code, {"step": title} | counts, {})


def _counts(
    posts: Mapping[str, Mapping[str, Any]], keys: Mapping[str, set[str]], words: Iterable[tuple[str, int]]
) -> dict[str, Any]:
    lengths = [n for post, n in words if post in posts]
    articles = {content["article"] for content in posts.values()}
    return {
        "communities": len({content["community"] for content in posts.values()}),
        "articles": len(articles),
        "keyphrases": len(set().union(*(keys[article] for article in articles))),
        "posts": len(posts),
        "reactions": len(lengths),
        "mean_words": sum(lengths) / len(lengths) if lengths else None,
    }


SAMPLE = Stage(
    code="sample",
    title="Sample",
    says="Draws at most one post for each community and quarter of the year, with its reactions. The table counts what "
    "each step left, as the paper’s first table does; words are counted between spaces.",
    kind="transformation",
    needs=("read", "corpus", "keyphrases", "reactions", "communities", "topics", "news"),
    settings=SampleSettings,
    run=draw,
)
