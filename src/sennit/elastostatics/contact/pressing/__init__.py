"""Pressing a rigid shape into a zone."""
