"""The strand: one quasi-static Cosserat rod."""
