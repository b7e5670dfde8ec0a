"""The control plane: what was intended, what ran and what is accepted, in SQL."""
