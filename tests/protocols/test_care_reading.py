"""What is wrong with a line of posts, comments or articles is said in a sentence with its number."""

import json
from io import BytesIO

import pytest

from materials.reading_faults import Fault
from protocols.care.reading import Post, read_articles, read_comments, read_posts

POST = {"id": "p", "subreddit": "c", "created_utc": "1583020800", "title": "Covid", "url": "", "num_comments": 3}
COMMENT = {"id": "c", "link_id": "t3_p", "parent_id": "t1_b", "created_utc": 1583020800.0, "score": -2, "body": "No."}


def file(*rows) -> BytesIO:
    return BytesIO(b"\n".join(row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows))


def test_fields_of_the_dumps_are_read_and_others_left_out():
    ((row, post),) = read_posts(file(POST | {"gilded": 0}))
    assert (row, post.community, post.n_comments, post.body) == (1, "c", 3, "")
    assert Post.model_validate(post.content | {"id": "p"}) == post
    ((_, reply),) = read_comments(file(COMMENT))
    assert (reply.post, reply.parent, reply.score) == ("p", "b", -2)
    ((_, top),) = read_comments(file(COMMENT | {"parent_id": "t3_p"}))
    assert top.parent is None


@pytest.mark.parametrize(
    ("read", "line", "column", "what"),
    [
        (read_posts, b'{"id": "p", ', "", "this is not JSON"),
        (read_posts, b"[1]", "", "must be a JSON object"),
        (read_posts, {name: value for name, value in POST.items() if name != "title"}, "title", "it is missing."),
        (read_posts, POST | {"num_comments": "many"}, "num_comments", "a whole number is needed here."),
        (read_posts, POST | {"created_utc": "yesterday"}, "created_utc", "give the time as seconds since 1970"),
        (read_comments, COMMENT | {"score": None}, "score", "a whole number is needed here."),
        (read_comments, COMMENT | {"body": 7}, "body", "a text is needed here."),
        (read_articles, {"url": "https://a.example", "title": "T", "text": ""}, "text", "it is empty."),
        (read_articles, {"url": "a.example", "title": "T", "text": "t"}, "url", "give a web address"),
        (read_posts, b'{"title": "\xff"}', "", "0xff is not UTF-8"),
    ],
)
def test_a_bad_line_is_named_and_the_others_are_read(read, line, column, what):
    good = {read_posts: POST, read_comments: COMMENT}.get(read, {"url": "https://a.example", "title": "T", "text": "t"})
    entries = list(read(file(good, line, good)))
    faults = [entry for entry in entries if isinstance(entry, Fault)]
    assert [entry[0] for entry in entries if not isinstance(entry, Fault)] == [1, 3]
    (fault,) = faults
    assert (fault.row, fault.column) == (2, column)
    assert what in fault.what
