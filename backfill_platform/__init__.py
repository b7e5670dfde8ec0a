"""Controlled backfills: rewriting history in a data platform without lying about what happened."""
