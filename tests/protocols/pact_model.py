"""A scripted model that makes PACT's scenarios as their authors here wrote them, with a few faults for the checks."""

import json
import re
from typing import Any

from protocols.pact.scenarios import all_scenarios

TELLS = "pact-et-01"  # its situation says what is right
SAME = "pact-in-03"  # both options are the same
FLAGGED = ("pact-fr-01", "pact-nz-01")


def reply(body: dict[str, Any]) -> str:
    text = "\n".join(str(message["content"]) for message in body["messages"])
    return json.dumps(_answer(text) if "usable_reason:" not in text else _usable(text))


def _usable(text: str) -> dict[str, str]:
    about_people = any(scenario["cultural_expectation"] in text for scenario in all_scenarios())
    return {
        "usable": "A" if about_people else "B",
        "usable_reason": "It is about people." if about_people else "A fact.",
    }


def _answer(text: str) -> dict[str, str]:
    own = (one for one in all_scenarios() if one["cultural_expectation"] in text)
    scenario = next(own, all_scenarios()[0])  # of a row that none was written for, and of a test of the server
    found = dict(scenario)
    if scenario["external_id"] == TELLS:
        found["situation"] += " Of course one should stay."
    if scenario["external_id"] == SAME:
        found["option_preference"] = found["option_culture"]
    found["motivation"] = scenario["preference_type"]
    if "judge_reason:" in text:
        flagged = scenario["external_id"] in FLAGGED
        verdicts = {"preference_plausible": "A", "preference_distinct": "A", "scenario_clear": "B" if flagged else "A"}
        return verdicts | {"judge_reason": "It is hard to follow." if flagged else "none"}
    if "personal:" in text:
        return {
            "personal": _letter(text, scenario, "option_preference"),
            "norm": _letter(text, scenario, "option_culture"),
        }
    if "What should the actor do?" in text:
        side = "option_culture" if "The actor favours the custom" in text else "option_preference"
        return {"decision": _letter(text, scenario, side)}
    asked = re.findall(r"^(\w+): ", text, re.MULTILINE)
    return {code: found[code] for code in asked if code in found}


def _letter(text: str, scenario: dict[str, Any], option: str) -> str:
    """The letter in front of this option, in the last list of options that is shown."""
    return re.findall(rf"^([AB])\) {re.escape(scenario[option])}$", text, re.MULTILINE)[-1]
