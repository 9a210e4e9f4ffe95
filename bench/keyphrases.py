"""`python -m bench.keyphrases [--quick]`: how many news articles a second one core finds the keyphrases of."""

import argparse
import os
import random
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench.running import Parts, tell
from bench.targets import Part, Target

LEAST_A_SECOND = 4.0
SOURCES_EACH = 6  # shipped articles that make one of a newspaper's length
ARTICLES, QUICK_ARTICLES = 200, 40


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.keyphrases", description="Measure keyphrases.")
    parser.add_argument("--quick", action="store_true", help="fewer articles, under 20 s")
    n = QUICK_ARTICLES if parser.parse_args(arguments).quick else ARTICLES
    started = time.perf_counter()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy reads it when it is imported
    tell(measure(n), started=started)


def measure(n: int) -> Parts:
    from protocols.care.keyphrases import keyphrases

    started = time.process_time()
    keyphrases("The first text loads the tagger.")
    yield "load", Part(f"{time.process_time() - started:.2f} s")
    texts = articles(n, seed=1)
    seconds: list[float] = []
    for text in texts:
        started = time.process_time()
        keyphrases(text)
        seconds.append(time.process_time() - started)
    words = median(len(text.split()) for text in texts)
    rate = n / sum(seconds)
    each = f"{1000 * median(seconds):.0f} ms each, slowest {max(seconds):.2f} s"
    line = f"{n} articles of {words:.0f} words (median), {each}"
    yield "keyphrases", Part(line, (Target("articles a second of a core", rate, LEAST_A_SECOND, at_least=True),))


def articles(n: int, *, seed: int) -> list[str]:
    """Articles of several hundred words, each of other ones of the shipped articles in another order."""
    from protocols.care import corpus
    from protocols.care.reading import read_articles

    with (Path(corpus.__file__).parent / "data" / "articles.jsonl").open("rb") as file:
        read = [entry[1] for entry in read_articles(file) if isinstance(entry, tuple)]
    sources = [article for article in read if article.language == "en"]
    rng = random.Random(seed)
    return ["\n".join(f"{a.title}. {a.text}" for a in rng.sample(sources, SOURCES_EACH)) for _ in range(n)]


if __name__ == "__main__":
    main()
