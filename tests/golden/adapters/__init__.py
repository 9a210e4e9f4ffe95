"""From the input of a golden file, by metric, to a result with the keys that the file expects."""

from collections.abc import Callable
from typing import Any

from tests.golden.adapters import (
    agreement,
    alignment,
    association,
    behaviour,
    consensus,
    constructors,
    deviance,
    gap,
    judging,
    ranking,
    rates,
    reactions,
)

ADAPTERS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "inter_annotator_agreement": agreement.coefficients,
    "pooled_criterion_agreement": agreement.pooled,
    "unanimous_agreement_rate": agreement.unanimous,
    "human_model_alignment": alignment.by_model_and_setting,
    "uncertainty_alignment": alignment.uncertainty,
    "norm_personal_gap": gap.by_group,
    "majority_agreement_modal_share": consensus.by_level,
    "self_consistency_and_personal_norm_consistency": consensus.self_consistency,
    "valid_response_rates_and_decision_entropy": rates.by_model,
    "cramers_v": association.strength,
    "benjamini_hochberg": association.adjusted,
    "drop_one_deviance_likelihood_ratio": deviance.by_factor,
    "paired_decision_flips": behaviour.flips,
    "semantic_option_position_audit": behaviour.option_position,
    "ablation_deltas": behaviour.ablation,
    "prompt_style_ablation": behaviour.prompt_style,
    "keyword_preference_type": behaviour.preference_types,
    "judge_decision_parsing": judging.parsing,
    "majority_vote_tie_to_A": judging.votes,
    "preference_subset_selection": judging.selection,
    "position_bias_and_order_consistency": ranking.by_method,
    "win_rate_matrix_and_ranking": ranking.models,
    "repeated_run_interval": ranking.runs,
    "tone_alignment_tem_tc_jsd": reactions.tones,
    "attitude_alignment_rmse_me_rho": reactions.attitudes,
    "paired_significance_of_condition_deltas": reactions.significance,
    "community_tem_transition_matrix": reactions.transitions,
    "keyphrase_salience": constructors.salience,
    "corpus_sampling_rules": constructors.corpus,
    "dev_test_split_with_deduplication": constructors.split,
}
