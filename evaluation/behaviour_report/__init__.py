"""The report that says how models' answers depend on factors."""
