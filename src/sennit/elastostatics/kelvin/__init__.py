"""Kelvin's solution integrated over triangles."""
