"""Compiled functions of zones: integrals, compliances, capacitance."""
