"""Simulated participants who walk a study's real pages through real HTTP."""

from studies.walk.walker import WalkError, WalkSummary, walk

__all__ = ["WalkError", "WalkSummary", "walk"]
