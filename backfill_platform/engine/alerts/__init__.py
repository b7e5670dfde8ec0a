"""Somebody hears of what goes wrong: what is worth an alert is raised, and delivered apart."""
