"""Compiled parts of contact."""
