"""Which groups of people a table or figure does not show, so that subtraction finds no small one. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

Place = Any  # of a row in its table or figure
Groups = Mapping[Place, tuple[tuple[Any, ...], int]]  # the names of each group, and how many people it has


def suppressed(groups: Groups, min_n: int) -> set[Place]:
    """The places of groups that have fewer than `min_n` people, and of those that would tell of them.

    Whoever knows a total, of all groups or of those that share names, and is shown all of them but one, has the one
    that is missing. So of what a total may stand for either nothing is missing, or at least two groups that together
    have `min_n` people: the smallest of the others go, too, until that is so. Groups without people stay.

    >>> sorted(suppressed({0: (("Brazil",), 30), 1: (("India",), 3), 2: (("Japan",), 20), 3: (("All",), 53)}, 5))
    [1, 2]
    """
    out = {place for place, (_, n) in groups.items() if 0 < n < min_n}
    lines, growing = list(_lines({place: names for place, (names, _) in groups.items()})), bool(out)
    while growing:
        growing = False
        for line in lines:
            missing = [groups[place][1] for place in line if place in out]
            shown = [place for place in line if place not in out and groups[place][1]]
            if missing and shown and (len(missing) < 2 or sum(missing) < min_n):
                out.add(min(shown, key=lambda place: (groups[place][1], groups[place][0])))
                growing = True
    return out


def _lines(names: Mapping[Place, tuple[Any, ...]]) -> Iterator[list[Place]]:
    """The places that share some of their names, for any of the columns: what a total may stand for."""
    columns = range(len(next(iter(names.values()), ())))
    for shared in (chosen for size in columns for chosen in combinations(columns, size)):
        lines = defaultdict(list)
        for place, own in names.items():
            lines[tuple(own[column] for column in shared)].append(place)
        yield from lines.values()
