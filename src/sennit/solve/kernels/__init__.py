"""Compiled functions of the step: assembly, active rows, cables, acceptance."""
