"""Bodies: what owns degrees of freedom."""
