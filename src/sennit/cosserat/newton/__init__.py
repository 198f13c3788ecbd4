"""Newton's method on the energy."""
