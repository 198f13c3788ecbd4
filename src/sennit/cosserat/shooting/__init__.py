"""Single shooting, for comparison."""
