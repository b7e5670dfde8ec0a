"""The command `backfill`: one thin file per verb."""
