"""Compiled functions of the factorisation, and of small problems with bounds."""
