"""CARE: reactions of communities to news, real ones and those that models simulate."""
