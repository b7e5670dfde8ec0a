"""The whole road of the reference domain's three tables, side by side with what people run today."""
