"""What the pull of taut cables does to the matrix of a step."""
