"""Prompts: templates, their rendering, their preview."""
