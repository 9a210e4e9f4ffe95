"""What a model is asked with an instrument, for the instrument's page."""

from collections.abc import Mapping
from typing import Any

from llm.models import Prompt
from llm.planning.costs import prompt_messages
from llm.prompting import default_prompt
from llm.prompting.rendering import PromptError
from materials.models import Instrument
from materials.previews import Preview
from projects.models import Project


def model_preview(project: Project, instrument: Instrument, content: Mapping[str, Any]) -> Preview:
    """The questions in the project's newest prompt, or in the example one of a project without prompts."""
    newest = project.prompts.order_by("-pk").first()
    prompt = newest or Prompt(system=default_prompt.SYSTEM, user=default_prompt.USER)
    context: dict[str, Any] = {"prompt": newest}
    try:
        context["messages"] = prompt_messages(prompt, instrument.questionnaire.questions, content)
    except PromptError as error:
        context["fault"] = str(error)
    return Preview("A model is asked", "llm/instrument_preview.html", context)
