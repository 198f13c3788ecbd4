"""Free flight before a solve, and what a solve makes of it."""
