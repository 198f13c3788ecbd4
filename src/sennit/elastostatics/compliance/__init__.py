"""Kernels on the compliance matrix of a zone: gathering, mirroring, and the surface that a few forces make."""
