"""From the shipped source files to the corpus: what is left out, and why."""

from collections import Counter
from pathlib import Path

import pytest

from protocols.care import addresses, corpus
from protocols.care.communities import scope
from protocols.care.language import language_of
from protocols.care.reactions import choose_reactions
from protocols.care.reading import Comment, read_articles, read_comments, read_posts

DATA = Path(corpus.__file__).parent / "data"


def rows(read, name: str) -> list:
    with (DATA / name).open("rb") as file:
        return [row for _, row in read(file)]


def test_the_shipped_posts_are_left_out_once_for_each_reason():
    languages = {article.id: language_of(article.text)[0] for article in rows(read_articles, "articles.jsonl")}
    rules = {"year": 2020, "words": corpus.QUERY_WORDS, "least_comments": 10, "hosts": ()}
    reasons = Counter(
        corpus.why_left_out(post, article_language=languages.get(addresses.article_id(post.url)), **rules)
        for post in rows(read_posts, "posts.jsonl")
    )
    phrases = ("OTHER_YEAR", "OFF_TOPIC", "NOT_ENGLISH", "FEW_COMMENTS", "NO_NEWS", "NO_ARTICLE")
    assert reasons == {"": 74} | {getattr(corpus, phrase): 1 for phrase in phrases}


def test_every_comment_is_a_reaction_or_has_a_reason():
    comments = rows(read_comments, "comments.jsonl")
    chosen = choose_reactions(comments)
    assert len(chosen.ranks) + sum(chosen.why.values()) == len(comments)
    assert len(chosen.why) == 5
    posts = {comment.id: comment.post for comment in comments}
    of_posts = Counter(posts[comment] for comment in chosen.ranks)
    assert max(of_posts.values()) == 5
    assert all(
        sorted(chosen.ranks[c] for c in chosen.ranks if posts[c] == post) == list(range(1, n + 1))
        for post, n in of_posts.items()
    )


def comment(comment_id: str, **fields) -> Comment:
    return Comment.model_validate(
        {"id": comment_id, "post": "p", "parent": None, "created_at": 1583020800, "score": 5, "text": "Well."} | fields
    )


def test_equal_up_votes_go_by_time_and_then_by_id():
    given = [comment("b"), comment("a"), comment("c", created_at=1583020000), comment("d", score=9)]
    assert choose_reactions(given, most=3).ranks == {"d": 1, "c": 2, "a": 3}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://www.news.example/a/", "https://news.example/a"),
        ("https://m.news.example/a?fbclid=1&id=2", "https://news.example/a?id=2#part"),
    ],
)
def test_addresses_of_one_article_are_one(one, other):
    assert addresses.canonical_url(one) == addresses.canonical_url(other) != ""


@pytest.mark.parametrize(
    "url", ["", "reddit", "/r/a/b", "ftp://a.example/x", "https://old.reddit.com/r/a", "https://a.example/p.JPG?x=1"]
)
def test_what_is_no_news_page(url):
    assert not addresses.links_to_news(url)


def test_a_list_of_news_hosts_decides_where_it_is_given():
    assert addresses.links_to_news("https://edition.news.example/a", hosts=["news.example"])
    assert not addresses.links_to_news("https://othernews.example/a", hosts=["news.example"])


def test_all_shipped_articles_but_the_german_one_are_english():
    found = Counter(language_of(article.text)[0] for article in rows(read_articles, "articles.jsonl"))
    assert found == {"en": 19, "de": 1}


@pytest.mark.parametrize("geopath", ["us-ca", "USA", "US-", "GLOBAL-US", "", "XX-1"])
def test_what_is_no_geopath_is_refused_with_a_sentence(geopath):
    with pytest.raises(ValueError, match=r"geopath|no country"):
        scope(geopath)
