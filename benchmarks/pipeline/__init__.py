"""The whole road of the reference domain's three tables, beside what people run today."""
