"""Two explicit sweeps, for loads that turn with the strand."""
