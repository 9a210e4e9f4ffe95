"""From a model's reply to values of an instrument's questions, and how probable each option was."""
