"""Rows of cables in a solve, and their state afterwards."""
