"""What a job will ask: its grid of conditions, its items, its price."""
