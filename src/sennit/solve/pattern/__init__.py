"""Which unknowns of the saddle-point system meet in its matrix."""
