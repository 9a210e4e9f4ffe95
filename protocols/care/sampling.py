"""Which communities, posts and reactions are studied.

A posts frame has one row per post: `post`, `community`, `month` (1 to 12), `n_comments` and `article`.
"""

import numpy as np
import pandas as pd

from protocols.care.published import MIN_COMMENTS, MIN_MONTHS, MIN_POSTS_PER_MONTH, MOST_REACTIONS, MOST_SHARING


def engaged_posts(posts: pd.DataFrame, *, min_comments: int = MIN_COMMENTS) -> pd.DataFrame:
    """Posts that were commented on often enough. Source: CARE, section 3.1.

    >>> engaged_posts(pd.DataFrame({"post": ["p", "q"], "n_comments": [10, 9]}))["post"].tolist()
    ['p']
    """
    return posts[posts["n_comments"] >= min_comments]


def active_communities(
    posts: pd.DataFrame, *, min_posts_per_month: int = MIN_POSTS_PER_MONTH, min_months: int = MIN_MONTHS
) -> list[str]:
    """Communities with enough posts in enough months, by name. Source: CARE, section 3.2.

    >>> active_communities(pd.DataFrame({"community": ["c", "c", "d"], "month": [1, 1, 1]}), min_months=1)
    ['c']
    """
    monthly = posts.groupby(["community", "month"]).size()
    months = (monthly >= min_posts_per_month).groupby(level="community").sum()
    return sorted(months.index[months >= min_months])


def article_sharing(posts: pd.DataFrame) -> pd.DataFrame:
    """By community, from the most sharing one: how many of its articles another community posted too, and of how many.

    `shared` and `n` count different articles; ties go by `n`, then by name. The paper does not say how sharing was
    measured.

    >>> posts = pd.DataFrame({"community": ["c", "d", "e"], "article": ["a", "a", "b"]})
    >>> article_sharing(posts)["shared"].to_dict()
    {'c': 1, 'd': 1, 'e': 0}
    """
    pairs = posts[["community", "article"]].drop_duplicates()
    shared = pairs.groupby("article")["community"].transform("size") > 1
    counted = pairs.assign(shared=shared).groupby("community").agg(shared=("shared", "sum"), n=("article", "size"))
    return counted.sort_index().sort_values(["shared", "n"], ascending=False, kind="stable")


def sharing_communities(posts: pd.DataFrame, *, most: int = MOST_SHARING) -> list[str]:
    """The communities that share most, at most so many. Source: CARE, section 3.2.

    >>> sharing_communities(pd.DataFrame({"community": ["c", "d", "e"], "article": ["a", "a", "b"]}), most=2)
    ['c', 'd']
    """
    return article_sharing(posts).index[:most].tolist()


def quarter_cells(posts: pd.DataFrame) -> pd.DataFrame:
    """The pairs of `community` and `quarter` (1 to 4) that have posts, in order: a sample has one post of each.

    >>> quarter_cells(pd.DataFrame({"community": ["c", "c", "c"], "month": [3, 1, 4]})).values.tolist()
    [['c', 1], ['c', 2]]
    """
    cells = posts[["community"]].assign(quarter=_quarter(posts))
    return cells.drop_duplicates().sort_values(["community", "quarter"], ignore_index=True)


def sample_posts(posts: pd.DataFrame, *, seed: int | np.random.Generator) -> pd.DataFrame:
    """One random post for each community and quarter, each of a cell's posts equally likely. Source: CARE, section 3.2.

    >>> posts = pd.DataFrame({"post": ["p", "q", "r"], "community": ["c", "c", "c"], "month": [1, 2, 12]})
    >>> len(sample_posts(posts, seed=1))
    2
    """
    rng = np.random.default_rng(seed)
    shuffled = posts.assign(quarter=_quarter(posts)).iloc[rng.permutation(len(posts))]
    drawn = shuffled.drop_duplicates(["community", "quarter"])
    return drawn.sort_values(["community", "quarter"]).drop(columns="quarter")


def top_reactions(comments: pd.DataFrame, *, most: int = MOST_REACTIONS) -> pd.DataFrame:
    """The most up-voted top-level comments of each post, at most so many, best first; ties in the order given.

    `comments` has `post`, `comment`, `parent` (missing at the top level) and `upvotes`. Source: CARE, section 3.1.

    >>> comments = pd.DataFrame({"post": ["p"] * 3, "comment": [1, 2, 3], "parent": [None, 1, None]})
    >>> top_reactions(comments.assign(upvotes=[1, 9, 2]))["comment"].tolist()
    [3, 1]
    """
    top = comments[comments["parent"].isna()].sort_values("upvotes", ascending=False, kind="stable")
    return top.groupby("post", sort=False).head(most).sort_values("post", kind="stable")


def _quarter(posts: pd.DataFrame) -> pd.Series:
    return (posts["month"] + 2) // 3
