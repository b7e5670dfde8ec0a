"""Bounded, replayable, pinned reads of what other people land."""
