"""What runs and tables stand at, for screens; reads and changes nothing."""
