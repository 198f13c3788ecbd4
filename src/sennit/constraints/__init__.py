"""Constraints: what ties points of bodies to each other and to the world."""
