"""The gates: measurements become verdicts. Pure; no Spark, no clock, no store."""
