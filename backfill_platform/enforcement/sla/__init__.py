"""The service level rule: how long a case may take, and whether it has taken longer."""
