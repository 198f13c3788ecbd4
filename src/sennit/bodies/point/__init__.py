"""What a point of any body offers."""
