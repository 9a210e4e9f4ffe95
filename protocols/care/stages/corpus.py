"""From the files to the corpus: the posts that count, their keyphrases and their reactions.

What needs pandas or the tagger is imported where it runs, because the pages look here as well.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import islice

from django.db.models.fields.json import KeyTextTransform
from pydantic import Field

from materials.models import Item
from protocols.care import corpus
from protocols.care.addresses import article_id
from protocols.care.language import language_of
from protocols.care.published import MIN_COMMENTS, MOST_KEYPHRASES, MOST_REACTIONS, YEAR
from protocols.care.reading import Comment, Post
from protocols.care.stages.lineage import of
from protocols.context import Made, StageContext
from protocols.stages import Stage, StageError, StageResult, StageSettings

ARTICLES_A_STEP = 500  # about half a minute of a core, which is what a killed worker costs


class CorpusSettings(StageSettings):
    year: int = Field(default=YEAR, ge=1970, le=9999, description="Posts of this calendar year (UTC) are kept.")
    words: tuple[str, ...] = Field(
        default=corpus.QUERY_WORDS,
        description="At least one must stand in the title or text, in any case, also within a word.",
    )
    least_comments: int = Field(
        default=MIN_COMMENTS, ge=0, description="Comments a post needs, by the count that came with it."
    )
    news_hosts: tuple[str, ...] = Field(
        default=(),
        title="Hosts of news",
        description="Only links to these hosts count as news, one a line. With none given, all count but those of "
        "forums, pictures, videos and social networks.",
    )


class KeyphraseSettings(StageSettings):
    most: int = Field(default=MOST_KEYPHRASES, ge=1, le=100, description="Keyphrases of an article, at most.")


class ReactionSettings(StageSettings):
    most: int = Field(default=MOST_REACTIONS, ge=1, le=100, description="Reactions of a post, the most up-voted.")


def make_corpus(ctx: StageContext) -> StageResult:
    languages: dict[str, tuple[int, str, float]] = {}
    for item in ctx.items("read", "dataset_articles"):
        content = item.content
        language, share = language_of(f"{content['title']} {content['text']}")
        languages[item.external_id] = (item.pk, content["language"] or language, share)
    why: Counter[str] = Counter()
    dataset = ctx.make_dataset(_corpus_posts(ctx, languages, why))
    out = dataset.items.count()
    if not out:
        raise StageError(f"No post is left: {_counted(why)}. Look at the settings and at the files.")
    return StageResult({"dataset": dataset.slug}, out + why.total(), out, dict(why))


def _corpus_posts(ctx: StageContext, languages: dict[str, tuple[int, str, float]], why: Counter[str]) -> Iterator[Made]:
    rules = ctx.settings
    for item in ctx.items("read", "dataset_posts"):
        post = Post.model_validate(item.content | {"id": item.external_id})
        article = article_id(post.url)
        pk, language, share = languages.get(article, (0, None, 0.0))
        reason = corpus.why_left_out(
            post,
            article_language=language,
            year=rules.year,
            words=rules.words,
            least_comments=rules.least_comments,
            hosts=rules.news_hosts,
        )
        if reason:
            why[reason] += 1
            continue
        content = {
            "community": post.community,
            "title": post.title,
            "article": article,
            "created_at": item.content["created_at"],
            "month": post.created_at.month,
            "n_comments": post.n_comments,
            "language": language,
            "language_share": round(share, 3),
        }
        yield Made(item.external_id, content, {"item": item.pk, "article": pk})


def find_keyphrases(ctx: StageContext) -> StageResult:
    """Of the next articles in their order; those of earlier steps are in the dataset."""
    from protocols.care.keyphrases import keyphrases

    articles = ctx.dataset("read", "dataset_articles").items
    posted = set(ctx.dataset("corpus").items.values_list(KeyTextTransform("article", "content"), flat=True))
    later = articles.filter(position__gt=_position_reached(ctx)).order_by("position").iterator(chunk_size=100)
    wanted = (item for item in later if item.external_id in posted)

    def found() -> Iterator[Made]:
        for item in islice(wanted, ARTICLES_A_STEP):
            title, text = item.content["title"], item.content["text"]
            phrases = [
                {"rank": one.rank, "phrase": one.phrase, "key": one.key, "score": round(one.score, 6)}
                for one in keyphrases(f"{title}\n{text}", most=ctx.settings.most)
            ]
            yield Made(item.external_id, {"title": title, "keyphrases": phrases}, of(item))

    dataset = ctx.make_dataset(found())
    if next(wanted, None):
        return StageResult({"dataset": dataset.slug}, done=False)
    given, out = articles.count(), dataset.items.count()
    why = {"article of no post of the corpus": given - out} if given > out else {}
    return StageResult({"dataset": dataset.slug}, given, out, why)


def _position_reached(ctx: StageContext) -> int:
    """Among the articles, where the earlier steps of this run of the stage ended."""
    last = Item.objects.filter(dataset__project=ctx.project, dataset__slug=ctx.slug).order_by("position").last()
    return Item.objects.get(pk=last.lineage["item"]).position if last else 0


def find_reactions(ctx: StageContext) -> StageResult:
    from protocols.care.reactions import choose_reactions

    posts = {item.external_id: item.content for item in ctx.items("corpus")}
    elsewhere = 0

    def of_posts() -> Iterator[Comment]:
        nonlocal elsewhere
        for item in ctx.items("read", "dataset_comments"):
            if item.content["post"] in posts:
                yield Comment.model_validate(item.content | {"id": item.external_id})
            else:
                elsewhere += 1

    chosen = choose_reactions(of_posts(), most=ctx.settings.most)

    def made() -> Iterator[Made]:
        for item in ctx.items("read", "dataset_comments"):
            if item.external_id in chosen.ranks:
                comment, post = item.content, posts[item.content["post"]]
                content = {
                    "text": comment["text"],
                    "title": post["title"],
                    "community": post["community"],
                    "post": comment["post"],
                    "rank": chosen.ranks[item.external_id],
                    "upvotes": comment["score"],
                    "created_at": comment["created_at"],
                }
                yield Made(item.external_id, content, of(item))

    dataset = ctx.make_dataset(made())
    why = ({"to a post that is not in the corpus": elsewhere} if elsewhere else {}) | chosen.why
    return StageResult({"dataset": dataset.slug}, len(chosen.ranks) + sum(why.values()), len(chosen.ranks), why)


def _counted(why: Counter[str]) -> str:
    return ", ".join(f"{n:,} {reason}" for reason, n in why.items())


CORPUS = Stage(
    code="corpus",
    title="Corpus",
    says="Keeps posts of the year that name the topic, are in English, were discussed, and link to an article of news.",
    kind="transformation",
    needs=("read",),
    settings=CorpusSettings,
    run=make_corpus,
)
KEYPHRASES = Stage(
    code="keyphrases",
    title="Keyphrases",
    says="Ranks the phrases of each article by how they stand among its topics (multipartite rank). An article with "
    "few phrases has few; none are added.",
    kind="transformation",
    needs=("read", "corpus"),
    settings=KeyphraseSettings,
    run=find_keyphrases,
)
REACTIONS = Stage(
    code="reactions",
    title="Reactions",
    says="Takes the most up-voted comments at the top level of each post, without deleted ones, bots and notices of "
    "moderators. Ties go by time, then by id.",
    kind="transformation",
    needs=("read", "corpus"),
    settings=ReactionSettings,
    run=find_reactions,
)
