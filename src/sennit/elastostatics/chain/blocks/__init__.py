"""Dense blocks of the seams' system."""
