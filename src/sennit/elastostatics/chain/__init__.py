"""Zones joined at seams: condensed stiffnesses, their block system, its solvers, and seams whose meshes differ."""
