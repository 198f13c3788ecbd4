"""Compiled functions of felt contact."""
