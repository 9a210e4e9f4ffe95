"""How requests travel to servers, what servers are like, and what their answers mean."""
