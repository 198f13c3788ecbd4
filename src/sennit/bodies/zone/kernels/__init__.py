"""Compiled functions of zones as bodies of a scene."""
