"""Haptic devices and the loop that feels a simulation at 1 kHz."""
