"""The use cases: the only room that walks the whole road, built once."""
