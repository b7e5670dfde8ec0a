"""What people do to runs from Dagster, a job each, by the same engine calls as the verbs."""
