"""Sections of reports: functions that give tables, figures and sentences, or None where there is nothing to say."""
