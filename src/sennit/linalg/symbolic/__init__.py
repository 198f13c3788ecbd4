"""Where each number of the factor goes, worked out once for a pattern."""
