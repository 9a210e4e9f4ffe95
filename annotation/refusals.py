"""Why a wish is not granted, in a sentence that the person reads."""


class RefusedError(ValueError):
    """Nothing was stored as an answer; the text says why. What was typed is kept as the person's draft."""


class LabelProjectError(ValueError):
    """The labelling project cannot be made or changed like this; the text says why and what to do."""
