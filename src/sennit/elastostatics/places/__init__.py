"""Kernels that find places on a surface, and patches round them."""
