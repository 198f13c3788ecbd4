"""Compiled functions of chains of zones."""
