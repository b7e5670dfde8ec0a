"""The Spark session, paths and the reading of Delta logs that several rooms need."""
