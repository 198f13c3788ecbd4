"""The scene: what is in it, its steps, its snapshots."""
