"""Ten years of five hundred tables, on paper: what planner, ledger, sensors and publisher take."""
