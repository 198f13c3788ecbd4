"""Four numbers at once."""
