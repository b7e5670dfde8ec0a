"""Sensors: what is looked at each minute, and the Dagster runs that follow from it. No JVM."""
