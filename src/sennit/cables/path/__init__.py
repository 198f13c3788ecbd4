"""Where a cable runs: tangent points, lengths, and what its pull does to its carriers."""
