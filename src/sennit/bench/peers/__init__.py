"""The same six tasks in sennit and in other programs."""
