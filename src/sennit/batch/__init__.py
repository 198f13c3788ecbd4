"""Many scenes at once."""
