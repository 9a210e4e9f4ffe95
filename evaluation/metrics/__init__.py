"""Measures of agreement among people, and between people and models.

Plain functions on arrays and frames: nothing here knows Django, reads a clock or draws from a global random state.
Answers and counts go in, `Estimate` objects come out; what is undefined is NaN with a reason, never 0.
"""
