"""What protocols draw and select: `care_salience_*`, `care_sampling_*`, `sj_split_*`."""

from typing import Any

from protocols.care import sampling
from protocols.care.salience import keyphrase_salience
from protocols.sense.split import LabelledPair, split_pairs
from tests.golden.tables import frame

_EXPONENTS = ((1, 1), (2, 0.5), (0, 1))


def salience(given: dict[str, Any]) -> dict[str, Any]:
    counts = frame(given["counts"]).rename(columns={"subreddit": "community"})
    found = {}
    for alpha, beta in _EXPONENTS:
        ranked = keyphrase_salience(counts, communities=given["params"]["subreddits"], alpha=alpha, beta=beta)
        found[f"alpha={alpha},beta={beta}"] = {"salience": ranked.to_dict(), "ranking": ranked.index.tolist()}
    return found


def corpus(given: dict[str, Any]) -> dict[str, Any]:
    posts, params = frame(given["posts"]).rename(columns={"subreddit": "community"}), given["params"]
    comments = frame(given["comments"])
    comments["parent"] = comments["parent"].where(comments["parent"] != "post")
    engaged = sampling.engaged_posts(posts, min_comments=params["min_comments"])
    active = sampling.active_communities(
        engaged, min_posts_per_month=params["min_posts_per_month"], min_months=params["min_months"]
    )
    pool = engaged[engaged["community"].isin(active)]
    top = sampling.top_reactions(comments)
    return {
        "n_posts_engaged": len(engaged),
        "active_subreddits": active,
        "quarter_cells": sampling.quarter_cells(pool).values.tolist(),
        "expected_sample_size": len(sampling.sample_posts(pool, seed=1)),
        "top_comments": {post: rows["comment"].tolist() for post, rows in top.groupby("post")},
    }


def split(given: dict[str, Any]) -> dict[str, Any]:
    rows = frame(given["pairs"]).rename(columns={"dataset": "topic"}).to_dict("records")
    params = given["params"]
    found = split_pairs(
        [LabelledPair(**row) for row in rows], dev_per_topic=params["dev_per_topic"], seed=params["seed"]
    )
    return {
        "n_after_dedup": found.n_different,
        "dev": {topic: [pair.id for pair in pairs] for topic, pairs in found.dev.items()},
        "test": {topic: [pair.id for pair in pairs] for topic, pairs in found.test.items()},
        "topics_lost": found.too_small,
    }
