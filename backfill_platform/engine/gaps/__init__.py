"""Finds gaps, and plans the repairs that the policy lets be done while nobody looks."""
