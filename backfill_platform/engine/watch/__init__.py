"""What moves by itself: finds what is due, overdue, ready, changed or abandoned, without a JVM."""
