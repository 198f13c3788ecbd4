"""Second derivatives of constraints and loads, for static solves."""
