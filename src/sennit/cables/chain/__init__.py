"""Tensions of the parts of cables that rub on sheaves, with all other bounded rows."""
