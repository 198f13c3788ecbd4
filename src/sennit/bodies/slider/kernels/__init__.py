"""Compiled functions of what slides along a rod."""
