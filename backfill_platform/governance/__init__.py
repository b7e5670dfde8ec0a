"""Who has to agree to a change, whether they have, and how much a run may take at a time."""
