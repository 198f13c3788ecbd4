"""A solved iterate becomes the scene's state."""
