"""Rows of constraints: their kinds, their tables, and the kernel that evaluates them."""
