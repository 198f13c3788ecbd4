"""Scenes in files."""
