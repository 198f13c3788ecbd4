"""The step of a scene where things may touch."""
