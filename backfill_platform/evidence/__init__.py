"""What proves a run: hash-chained records in a folder that anyone can read."""
