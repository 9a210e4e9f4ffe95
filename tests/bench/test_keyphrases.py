"""The keyphrases' benchmark on two articles; nothing is timed here."""

from bench.keyphrases import articles, measure


def test_articles_of_a_newspapers_length_are_counted():
    _, (name, part) = measure(2)
    assert name == "keyphrases"
    assert part.targets[0].value > 0
    assert all(400 < len(text.split()) < 900 for text in articles(5, seed=2))
    assert len(set(articles(5, seed=2))) == 5
