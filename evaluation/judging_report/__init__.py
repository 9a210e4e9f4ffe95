"""Reports on judges: which of two responses models and people prefer, how often judges are right, whether the place of
a response decides, and how the authors of the responses rank."""
