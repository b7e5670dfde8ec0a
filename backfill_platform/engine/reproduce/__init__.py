"""Computes a run again from its manifest and compares; nothing of it is published or staged."""
