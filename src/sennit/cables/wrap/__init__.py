"""Bodies that a cable comes to lie on, and leaves."""
