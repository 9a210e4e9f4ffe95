"""SenseBench's construction: dialogues, topics, what separates models, pairs, and the paper's own prompts."""

from collections import Counter
from pathlib import Path

import pytest

from protocols import sense
from protocols.sense.categories import subcategories, topics
from protocols.sense.challenge import ORDERS, Compared, discriminating, triples
from protocols.sense.dialogues import DialogueError, first_of_each, read_dialogue, without_last_answer
from protocols.sense.pairs import all_pairs, drawn_pairs, n_pairs

PROMPTS = Path(sense.__file__).parent / "prompts"
# SenseJudge, appendix A.2, without spaces to compare, as its line breaks are lost.
PREFERENCE_WORDS = """\
The persona preference should be concise and should not mention specific details or exact words and phrasing
present in the prompt or responses. Answer in English.Query: {query}—Chosen Response: Assistant: {chosen
response}—Rejected Response: Assistant: {rejected response}—Persona Preference:"""
JUDGMENT_WORDS = """\
You are going to evaluate two responses to a given user query and determine which response is superior. Below
is the relevant content:BEGIN DATA***User Query:{query}***Response A: {response 1}***Response B: {response
2}***END DATAHere are the guidelines for evaluating and comparing the two responses:***BEGIN User
Preferences***{preference}***END User Preferences***1. Score each of the two responses based on the user
preferences.2. Based on the scores obtained in the first step, determine which response is better. If Response
A is better, output “The final decision is Response A.” If Response B is better, output “The final decision is
Response B.”"""


def words(text):
    return "".join(text.split())


def test_quoted_prompts_are_the_papers_word_for_word():
    template = (PROMPTS / "preference.v1.user.jinja").read_text(encoding="utf-8")
    for name, field in (("query", "query"), ("chosen", "chosen response"), ("rejected", "rejected response")):
        template = template.replace(f"{{{{ item.{name} }}}}", f"{{{field}}}")
    assert template.startswith("You will be given a prompt and two responses: a response that was chosen by the user")
    assert words(template).endswith(words(PREFERENCE_WORDS))
    template = (PROMPTS / "judge.v1.user.jinja").read_text(encoding="utf-8").partition("%}")[2]
    for name, field in (
        ("item.query", "query"),
        ("item.preference", "preference"),
        ("a.text", "response 1"),
        ("b.text", "response 2"),
    ):
        template = template.replace(f"{{{{ {name} }}}}", f"{{{field}}}")
    assert words(template) == words(JUDGMENT_WORDS)


def test_topics_are_those_of_the_paper():
    assert Counter(entry.topic for entry in subcategories().values()) == {
        "math": 3, "reasoning": 5, "code": 3, "qa": 4, "writing": 3, "role": 3, "nlu": 5, "translation": 6,
    }  # fmt: skip
    assert (len(topics()), len(subcategories())) == (8, 32)


def test_dialogues_of_several_layouts_are_one():
    chat = {"id": "d", "conversations": [{"from": "human", "value": "Hi."}, {"from": "gpt", "value": "Yes?"}]}
    found = read_dialogue(chat, 3)
    assert (found.id, found.text, found.ends_with_assistant) == ("d", "Human: Hi.\n\nAssistant: Yes?", True)
    assert without_last_answer(found).text == "Human: Hi."
    assert read_dialogue({"instruction": "Add.", "input": "1 + 1"}, 4).text == "Human: Add.\n\n1 + 1"
    kept, dropped = first_of_each([read_dialogue({"query": text}, n) for n, text in enumerate(("Hi!", "hi", "Ho"), 1)])
    assert ([dialogue.id for dialogue in kept], dropped) == (["1", "3"], 1)


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ({"id": 1}, "neither messages nor a text"),
        ({"messages": "Hi."}, "no list"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "message 1 has the role 'tool'"),
        ({"messages": [{"role": "user", "content": " "}]}, "message 1 has no text"),
        ({"messages": ["Hi."]}, "message 1 has no role and text"),
    ],
)
def test_what_is_no_dialogue_is_refused(row, fault):
    with pytest.raises(DialogueError, match=fault):
        read_dialogue(row, 1)


def test_a_query_separates_models_when_strong_ones_win_in_both_orders():
    def compared(wins):
        for number, (strong, weak, order) in enumerate(triples(["s", "t"], ["w", "v"])):
            ahead, behind = (1, 5) if order == ORDERS[0] else (5, 1)
            yield Compared("q", strong, weak, order, ahead if number // 2 < wins else behind)

    rule = {"n_pairs": 4, "least_lead": 1, "least_share": 0.75}
    assert [discriminating(compared(wins), **rule)["q"] for wins in (2, 3, 4)] == [False, True, True]
    first_alone = [verdict for verdict in compared(4) if verdict.order == ORDERS[0]]
    assert discriminating(first_alone, **rule) == {"q": False}


def test_pairs_are_those_of_the_paper():
    assert n_pairs(400, 12) == 26_400 == sum(1 for _ in all_pairs([str(n) for n in range(400)], "abcdefghijkl"))
    queries = {topic: [f"{topic}{number}" for number in range(50)] for topic in topics()}
    drawn = drawn_pairs(queries, "abcdefghijkl", per_topic=125, seed=1)
    assert len(drawn) == len({pair.id for pair in drawn}) == 1000
    in_math = [pair for pair in drawn if pair.query.startswith("math")]
    assert set(Counter(pair.query for pair in in_math).values()) == {2, 3}
    assert set(Counter((pair.first, pair.second) for pair in in_math).values()) == {1, 2}
    assert drawn != drawn_pairs(queries, "abcdefghijkl", per_topic=125, seed=2)
    assert len(drawn_pairs({"math": ["q", "r"]}, "abc", per_topic=125, seed=1)) == 6
