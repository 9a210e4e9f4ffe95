"""Which posts belong to the corpus: of the year, on the topic, in English, discussed, and about a news article."""

from collections.abc import Collection

from protocols.care.addresses import links_to_news
from protocols.care.language import language_of
from protocols.care.reading import Post

QUERY_WORDS = ("coronavirus", "covid")

OTHER_YEAR = "not of the year"
OFF_TOPIC = "none of the query words in title or text"
NOT_ENGLISH = "not in English"
FEW_COMMENTS = "too few comments"
NO_NEWS = "no link to a news article"
NO_ARTICLE = "the article’s text was not given"


def why_left_out(
    post: Post,
    *,
    article_language: str | None,
    year: int,
    words: Collection[str],
    least_comments: int,
    hosts: Collection[str],
) -> str:
    """Why the post is not of the corpus, in one of the phrases above, the first that applies; "" where it is.

    `article_language`: of the article it links to; None where that was not given, and the post's own words are looked
    at. `hosts`: those of news; empty for all that are not known to be something else. Source: CARE, section 3;
    PIPELINES 1.2.
    """
    text = f"{post.title} {post.body}"
    language = article_language
    if language is None:
        language = language_of(text)[0] or "en"  # a title alone can be too short to tell
    if post.created_at.year != year:
        return OTHER_YEAR
    if not any(word.lower() in text.lower() for word in words):
        return OFF_TOPIC
    if not language.lower().startswith("en"):
        return NOT_ENGLISH
    if post.n_comments < least_comments:
        return FEW_COMMENTS
    if not links_to_news(post.url, hosts=hosts):
        return NO_NEWS
    return "" if article_language is not None else NO_ARTICLE
