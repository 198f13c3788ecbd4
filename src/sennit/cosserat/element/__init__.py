"""Elements of the energy method."""
