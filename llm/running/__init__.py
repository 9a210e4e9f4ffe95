"""Calls on their way: the ledger, limits, runners, what is kept until it is stored."""
