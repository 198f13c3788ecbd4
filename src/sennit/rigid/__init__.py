"""Rigid bodies: mass properties, and the motion of a body that no torque turns."""
