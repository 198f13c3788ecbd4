"""The saddle-point system of a scene: its tables, its assembly, time steps and static solves."""
