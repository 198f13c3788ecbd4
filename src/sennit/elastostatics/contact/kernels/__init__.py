"""Compiled functions of contact between zones and rigid shapes."""
