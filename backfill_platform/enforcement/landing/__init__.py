"""A seeded stand-in for the systems that deliver case events as daily Parquet files."""
