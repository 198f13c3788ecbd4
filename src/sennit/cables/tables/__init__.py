"""The tables that the kernels of cables share."""
