"""Drop-one deviance: `drop_one_deviance_*`."""

from collections.abc import Sequence
from typing import Any

from evaluation.metrics.deviance import DropOneDeviance, Marginality, drop_one_deviance
from tests.golden.tables import frame


def by_factor(given: dict[str, Any]) -> dict[str, Any]:
    """Terms dropped alone, main effects with interactions in both other ways, and scenario country added to items."""
    answers, outcome, terms = frame(given["responses"]), given["params"]["outcome"], given["params"]["terms"]

    def dropped(terms: Sequence[str], marginality: Marginality) -> DropOneDeviance:
        return drop_one_deviance(
            answers, outcome=outcome, factors={term: [term] for term in terms}, marginality=marginality
        )

    found = dropped(terms, "ignored")
    type_ii, together = dropped(terms, "type_ii").factors, dropped(terms, "with_interactions").factors
    result = {
        "n": found.n,
        "full_terms": terms,
        "full_deviance": found.deviance,
        "full_df_model": found.df_model,
        "design_columns": found.design_columns,
        "factors": {
            term: {
                "reduced_deviance": factor.reduced_deviance,
                "drop_deviance": factor.drop_in_deviance,
                "df": factor.df,
                "p": factor.p,
                "q": factor.q,
            }
            for term, factor in found.factors.items()
        },
        "marginal_main_effects": {
            term: {
                "type2_drop_deviance": type_ii[term].drop_in_deviance,
                "type2_df": type_ii[term].df,
                "type2_p": type_ii[term].p,
                "with_interactions_drop_deviance": together[term].drop_in_deviance,
                "with_interactions_df": together[term].df,
                "with_interactions_p": together[term].p,
            }
            for term in terms
        },
    }
    if "scenario_country" in answers and "scenario_country" not in terms:
        added = dropped([*terms, "scenario_country"], "ignored").factors["scenario_country"]
        result["added_scenario_country"] = {"drop_deviance": added.drop_in_deviance, "df": added.df}
    return result
