"""The order in which blocks of unknowns are eliminated."""
