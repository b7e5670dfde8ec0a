"""Computes chunks with Spark into the run's own staging table."""
