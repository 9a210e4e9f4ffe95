"""Kinds of reports. Nothing here is heavy: what needs pandas is named by its dotted path and imported by workers alone.

A kind is a package with pure parameters, a form, a check, a function that reads counted frames from the database, and
pure sections of these frames, so that its tables can be computed again where there is no database.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.answers import check_alignment
from evaluation.behaviour_report.parameters import BehaviourParameters
from evaluation.behaviour_report.selecting import check_behaviour
from evaluation.judging_report.parameters import JudgingParameters
from evaluation.judging_report.selecting import check_judging
from evaluation.parameters import AlignmentParameters, ReportParameters
from evaluation.planning_report.parameters import PlanningParameters
from evaluation.reactions_report.parameters import ReactionsParameters
from evaluation.reactions_report.selecting import check_reactions
from evaluation.replacement_report.parameters import ReplacementParameters
from evaluation.replacement_report.selecting import check_replacement
from projects.models import Project


@dataclass(frozen=True, slots=True)
class Kind:
    """How one kind of report is asked for and computed.

    `check(project, parameters)` raises ReportError with one sentence when the report would have no number in it.
    `form` is the dotted path of a `evaluation.forms.ReportForm`.
    `read(project, parameters)` gives the data: counted frames by name, without ids of the database, sorted alike for
    the same answers. `sections(data, parameters)` gives what computes each section, in reading order: functions without
    arguments, with None where there is nothing to say. It and all it imports know no framework.
    """

    code: str
    title: str
    says: str  # the question it answers, as one sentence
    parameters: type[ReportParameters]
    form: str
    check: Callable[[Project, Any], None]
    read: str
    sections: str


_ALL = (
    Kind(
        code="alignment",
        title="Alignment of people and models",
        says="Do models answer as people do: the same majorities and rates, the same doubts, and how close could they "
        "come, given how people differ among themselves?",
        parameters=AlignmentParameters,
        form="evaluation.forms_alignment.AlignmentForm",
        check=check_alignment,
        read="evaluation.frames.read_frames",
        sections="evaluation.sections.in_order.alignment_sections",
    ),
    Kind(
        code="behaviour",
        title="Behaviour of models",
        says="Do models follow the culture or allow the preference, and what moves them: prompts, instruction tuning, "
        "places, people, the order of the options?",
        parameters=BehaviourParameters,
        form="evaluation.forms_behaviour.BehaviourForm",
        check=check_behaviour,
        read="evaluation.behaviour_report.frames.read_frames",
        sections="evaluation.behaviour_report.sections.behaviour_sections",
    ),
    Kind(
        code="reactions",
        title="Reactions of communities",
        says="Do models react to news as communities do, in tone and attitude, and does it help to tell them the "
        "community?",
        parameters=ReactionsParameters,
        form="evaluation.forms_reactions.ReactionsForm",
        check=check_reactions,
        read="evaluation.reactions_report.frames.read_frames",
        sections="evaluation.reactions_report.sections.reactions_sections",
    ),
    Kind(
        code="judging",
        title="Judges of two responses",
        says="How often do judges prefer the response that people prefer, does its place decide, and how do the "
        "authors of the responses rank?",
        parameters=JudgingParameters,
        form="evaluation.forms_judging.JudgingForm",
        check=check_judging,
        read="evaluation.judging_report.frames.read_frames",
        sections="evaluation.judging_report.sections.judging_sections",
    ),
    Kind(
        code="correction",
        title="Rates of people over all items",
        says="What would people answer about all items, if they answered some of them and a model answered all?",
        parameters=AlignmentParameters,
        form="evaluation.forms_alignment.AlignmentForm",
        check=check_alignment,
        read="evaluation.frames.read_frames",
        sections="evaluation.sections.correction.correction_sections",
    ),
    Kind(
        code="replacement",
        title="Models in the place of annotators",
        says="May a model stand in for an annotator: do the others agree with it as much as with one of them?",
        parameters=ReplacementParameters,
        form="evaluation.forms_replacement.ReplacementForm",
        check=check_replacement,
        read="evaluation.replacement_report.frames.read_frames",
        sections="evaluation.replacement_report.sections.replacement_sections",
    ),
    Kind(
        code="planning",
        title="How many participants, items and calls",
        says="How large must a study be for an interval as short as wanted, or to find a gap that matters, going by a "
        "pilot?",
        parameters=PlanningParameters,
        form="evaluation.forms_planning.PlanningForm",
        check=check_alignment,
        read="evaluation.frames.read_frames",
        sections="evaluation.planning_report.sections.planning_sections",
    ),
)
KINDS: Mapping[str, Kind] = {kind.code: kind for kind in _ALL}
