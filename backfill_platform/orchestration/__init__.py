"""Everything Dagster, and only here."""
