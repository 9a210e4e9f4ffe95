"""Posts of a stage as frames, for workers alone."""

import pandas as pd

from protocols.context import StageContext


def posts_frame(ctx: StageContext, code: str) -> pd.DataFrame:
    """The posts of a stage's dataset as protocols.care.sampling takes them."""
    rows = [
        (item.external_id, item.content["community"], item.content["month"], item.content["article"])
        for item in ctx.items(code)
    ]
    return pd.DataFrame(rows, columns=["post", "community", "month", "article"])
