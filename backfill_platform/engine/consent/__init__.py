"""Who has agreed to a run, and taking their word."""
