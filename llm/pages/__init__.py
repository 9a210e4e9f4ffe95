"""Pages of endpoints, prompts, jobs and calls, with their forms and reads."""
