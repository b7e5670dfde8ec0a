"""What happens by itself, without a JVM: each sensor asks the engine and decides nothing."""
