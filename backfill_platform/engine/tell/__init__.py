"""What runs do and did, told to tools outside."""
