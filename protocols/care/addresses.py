"""Web addresses of articles: one form for each, and which of them lead to news."""

from collections.abc import Collection
from hashlib import sha256
from urllib.parse import parse_qsl, urlencode, urlsplit

NOT_NEWS = (
    "reddit.com", "redd.it", "redditmedia.com", "imgur.com", "youtube.com", "youtu.be", "vimeo.com", "twitter.com",
    "t.co", "x.com", "facebook.com", "instagram.com", "tiktok.com", "twitch.tv", "gfycat.com", "giphy.com",
    "discord.gg", "change.org", "gofundme.com",
)  # fmt: skip
MEDIA_ENDINGS = (".jpg", ".jpeg", ".png", ".gif", ".gifv", ".webp", ".svg", ".mp4", ".webm", ".mov", ".mp3", ".pdf")
_TRACKING = ("fbclid", "gclid", "igshid", "mc_cid", "mc_eid", "cmpid", "ocid", "ref", "ref_src", "smid", "s_cid")
_LONGEST_ID = 200


def canonical_url(url: str) -> str:
    """The address by which articles are told apart: host and path in one form, without scheme, fragment and tracking.

    "" for what is no web address.

    >>> canonical_url("https://www.Example.org/a/?utm_source=x&id=2#top")
    'example.org/a?id=2'
    """
    try:
        parts = urlsplit(url.strip())
        host = (parts.hostname or "").lower()
    except ValueError:
        return ""
    if parts.scheme.lower() not in ("http", "https") or "." not in host:
        return ""
    for prefix in ("www.", "m.", "amp."):
        host = host.removeprefix(prefix)
    kept = [(name, value) for name, value in parse_qsl(parts.query, keep_blank_values=True) if not _tracks(name)]
    query = f"?{urlencode(sorted(kept))}" if kept else ""
    return f"{host}{parts.path.rstrip('/')}{query}"


def article_id(url: str) -> str:
    """The canonical address as an id; a long one ends with a digest.

    >>> len(article_id("https://example.org/" + "a" * 500))
    200
    """
    address = canonical_url(url)
    if len(address) <= _LONGEST_ID:
        return address
    return f"{address[: _LONGEST_ID - 17]}~{sha256(address.encode()).hexdigest()[:16]}"


def links_to_news(url: str, *, hosts: Collection[str] = ()) -> bool:
    """Whether the address is a web page on none of the hosts in NOT_NEWS and, where `hosts` are given, on one of them.

    >>> links_to_news("https://i.redd.it/x"), links_to_news("https://example.org/news/1")
    (False, True)
    """
    address = canonical_url(url)
    host, _, path = address.partition("/")
    if not address or path.lower().partition("?")[0].endswith(MEDIA_ENDINGS) or _among(host, NOT_NEWS):
        return False
    return not hosts or _among(host, hosts)


def _tracks(name: str) -> bool:
    return name.lower().startswith("utm_") or name.lower() in _TRACKING


def _among(host: str, hosts: Collection[str]) -> bool:
    return any(host == other or host.endswith(f".{other}") for other in hosts)
