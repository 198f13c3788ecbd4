"""Compiled functions of rigid bodies."""
