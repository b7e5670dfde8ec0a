"""Opens a run and computes its chunks, within limits, under leases, and judged."""
