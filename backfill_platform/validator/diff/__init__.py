"""What a run would change against what is accepted: one join by key, its figures, its rows."""
