"""How the ledger's schema came to be, one numbered step after the other."""
