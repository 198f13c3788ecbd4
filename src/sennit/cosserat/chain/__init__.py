"""The chain of element ends: symmetric indefinite elimination in linear time."""
