"""Compares staged with accepted partitions, and makes them visible."""
