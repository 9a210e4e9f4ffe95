"""Stages that put several others together take only what rests on the same data."""

from protocols.context import StageContext
from protocols.stages import StageError
from protocols.states import stage_states


def refuse_stale(ctx: StageContext) -> None:
    """Raise StageError when a stage that this one needs was run on other inputs or settings than there are now."""
    states = stage_states(ctx.run, ctx.files)
    stale = [states[code].stage.title for code in ctx.stage.needs if states[code].stale]
    if stale:
        titles = '", "'.join(stale)
        raise StageError(f'Run "{titles}" again first: what this stage puts together has to rest on the same data.')
