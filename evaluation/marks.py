"""Whose answers a row or a mark of a figure stands for."""

from typing import Literal

Mark = Literal["human", "simulated", "model", "demo-model"]
MARKS: tuple[Mark, ...] = ("human", "simulated", "model", "demo-model")
