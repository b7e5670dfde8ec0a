"""Finishes what a crash left half done, as the target's log decides."""
