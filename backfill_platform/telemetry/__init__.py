"""What happens, in forms that other tools read: Prometheus, lines of JSON, OpenLineage."""
