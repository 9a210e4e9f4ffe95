"""What a reader must know before any number: which reactions were observed, and what models were told."""

from evaluation.reactions_report.reactions import ALL, Reactions
from evaluation.sections.people_table import people_table
from evaluation.sections.shape import Column, Row, Section, Table

POSTS = (
    Column("split", "Split", "name"),
    Column("posts", "Posts", "count", "n"),
    Column("communities", "Communities", "count", "n"),
    Column("tones", "Observed tones", "count", "n"),
    Column("attitudes", "Observed attitudes", "count", "n"),
)
MODELS = (
    Column("model", "Model", "name"),
    Column("level", "Told", "name"),
    Column("prompt", "Prompt"),
    Column("temperature", "Temperature"),
    Column("posts", "Posts", "count", "n"),
    Column("tones", "Simulated tones", "count", "n"),
)


def what_was_simulated(reactions: Reactions) -> Section:
    """Warnings, questions and counts of observed and simulated reactions."""
    parameters = reactions.parameters
    asked = " ".join(f"{row['question']}: “{row['text']}”" for row in reactions.asked.to_dict("records"))
    first = reactions.asked.iloc[0]
    where = "each item is one post" if parameters.post is None else f"{parameters.post} names the post"
    community = f", {parameters.community} its community" if parameters.community else ""
    which = {"all": "real and simulated", "real": "real only", "simulated": "simulated only"}[parameters.people]
    return Section(
        code="what_was_simulated",
        title="What was observed and simulated",
        warnings=reactions.who.warnings,
        paragraphs=(
            f"Dataset {first['dataset']}, instrument {first['instrument']}. {asked} Of the items, {where}{community}.",
            f"Every answer of people ({which}) is one observed "
            "reaction, so a reaction that several people labelled counts for each of them. Every answer that a model "
            f"gave as itself is a simulated one; {parameters.condition} says whether it was {parameters.blind} to the "
            f"community or {parameters.informed} of it. Answers with other levels, and those of personas, are left "
            "out.",
            "Attitudes go from −1 (negative) to 1 (positive). A post is negative where its observed attitudes are "
            "below 0 on average. None of this says which reaction would be right.",
        ),
        tables=(
            _posts(reactions),
            people_table(reactions.persons, "People whose answers are observed reactions."),
            _models(reactions),
        ),
    )


def _posts(reactions: Reactions) -> Table:
    rows = []
    for split, posts in reactions.splits.items():
        counts = [
            int(frame.loc[frame["post"].isin(posts), "n"].sum())
            for frame in (reactions.observed_tones, reactions.observed_attitudes)
        ]
        rows.append(
            Row(
                {
                    "split": split,
                    "posts": len(posts),
                    "communities": int(reactions.communities.reindex(posts).nunique()),
                    "tones": counts[0],
                    "attitudes": counts[1],
                },
                marks=reactions.who.people_marks,
            )
        )
    return Table("posts", "Posts", "Posts with observed reactions.", POSTS, tuple(rows))


def _models(reactions: Reactions) -> Table:
    rows = []
    for model in reactions.models:
        for level in reactions.levels:
            given = model.of(reactions.simulated_tones)
            given = given[(given["level"] == level) & given["post"].isin(reactions.splits[ALL])]
            rows.append(
                Row(
                    {
                        "model": reactions.label(model),
                        "level": level,
                        "prompt": model.prompt or "not recorded",
                        "temperature": model.temperature or "not recorded",
                        "posts": given["post"].nunique(),
                        "tones": int(given["n"].sum()),
                    },
                    marks=(model.mark,),
                )
            )
    caption = "Simulated reactions to posts with observed ones, by what the model was told."
    return Table("models", "Models", caption, MODELS, tuple(rows))
