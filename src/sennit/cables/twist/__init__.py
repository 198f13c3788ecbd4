"""How far a cable is twisted."""
