"""Measures staged data in one pass (Spark) and judges the numbers (pure)."""
