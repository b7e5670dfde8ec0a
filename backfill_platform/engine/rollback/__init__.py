"""Returns partitions to what they held before, as a run of its own."""
