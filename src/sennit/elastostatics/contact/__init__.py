"""Unilateral contact, with Coulomb friction, of the free nodes of a zone with a rigid shape."""
