"""Elastic zones: alone, joined in chains, and as bodies of a scene."""
