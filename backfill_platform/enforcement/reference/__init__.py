"""Versioned facts that the transforms look up; a version is one file that never changes."""
