"""From an intent to a manifest in the ledger: facts are gathered, the planner decides."""
