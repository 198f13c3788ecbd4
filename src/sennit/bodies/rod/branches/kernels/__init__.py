"""Kernels of branches."""
