"""Compiled functions of discrete rods."""
