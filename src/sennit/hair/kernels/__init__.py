"""Steps of hair."""
