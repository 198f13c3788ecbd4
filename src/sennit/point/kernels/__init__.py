"""Compiled functions of points."""
