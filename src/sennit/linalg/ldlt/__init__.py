"""Factorisation and triangular solves along a plan."""
