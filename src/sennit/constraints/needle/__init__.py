"""A needle on a thread's end: its shape, the holes that it makes in tissue, and what happens in them."""
