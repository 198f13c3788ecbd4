"""Many right sides at once for a sparse factorisation."""
