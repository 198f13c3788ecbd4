"""Multipliers of one-sided rows, motors, friction and cables."""
