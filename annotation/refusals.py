"""Why an annotator's wish is not granted, in a sentence they read."""


class RefusedError(ValueError):
    """Nothing was stored as an answer; the text says why. What was typed is kept as the person's draft."""
