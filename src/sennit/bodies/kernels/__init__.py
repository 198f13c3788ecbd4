"""Compiled functions that know all kinds of bodies."""
