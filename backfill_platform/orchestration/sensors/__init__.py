"""What moves by itself: sensors and schedules. They look and ask; deciding is the engine's."""
