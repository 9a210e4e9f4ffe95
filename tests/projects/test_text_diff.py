import random

import pytest

from projects.text_diff import Line, text_diff


def marked(line: Line) -> str:
    """Sign and text, changed words in brackets."""
    words = "".join(f"[{span.text}]" if span.changed else span.text for span in line.spans)
    return f"{line.sign}{words}" if not line.skipped else f"({line.skipped})"


def diff(before: str, after: str) -> list[str]:
    return [marked(line) for line in text_diff(before, after)]


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ("a", "a", []),
        ("", "a\nb", ["+a", "+b"]),
        ("a\nb", "", ["-a", "-b"]),
        ("a\nb\nc", "a\nc", [" a", "-b", " c"]),
        ("x\nx", "x\nx\nx", [" x", " x", "+x"]),
        ("a\n", "a", [" a", "-"]),
        ("Is it usual here?", "Is it very usual?", ["-Is it usual[ here]?", "+Is it [very ]usual?"]),
        ("one two three", "four five six", ["-one two three", "+four five six"]),  # nothing in common to hold on to
        ("Tap {{ item.a }}.", "Tap {{ item.b }}.", ["-Tap {{ item.[a] }}.", "+Tap {{ item.[b] }}."]),
    ],
)
def test_lines_and_words(before, after, lines):
    assert diff(before, after) == lines


def test_unchanged_lines_far_from_a_change_are_counted():
    lines = [str(n) for n in range(20)]
    changed = [*lines[:10], "ten", *lines[11:]]
    found = text_diff("\n".join(lines), "\n".join(changed))
    assert [marked(line) for line in found] == ["(7)", " 7", " 8", " 9", "-10", "+ten", " 11", " 12", " 13", "(6)"]
    assert diff("\n".join("12345"), "\n".join("12346"))[:2] == [" 1", " 2"]  # one line more would stand for one line
    assert [(line.before, line.after) for line in found[3:6]] == [(10, 10), (11, None), (None, 11)]


def test_both_texts_can_be_read_back():
    draw = random.Random(1)
    for _ in range(500):
        before, after = ("\n".join(draw.choice(["a b", "a c", ""]) for _ in range(draw.randrange(1, 5))) for _ in "ab")
        lines = text_diff(before, after)
        for text, sign in ((before, "+"), (after, "-")):
            assert not lines or "\n".join(line.text for line in lines if line.sign != sign) == text


def test_what_would_take_long_is_one_replacement():
    draw = random.Random(1)
    before, after = (["same", *(str(draw.randrange(300)) for _ in range(5000)), "end"] for _ in "ab")
    lines = text_diff("\n".join(before), "\n".join(after))
    assert [line.sign for line in lines[:2]] == [" ", "-"]
    assert sum(line.sign == "-" for line in lines) == sum(line.sign == "+" for line in lines)
    assert lines[-1].text == "end"
