"""All arrays of a solve in one object, which a kernel takes faster than the arrays."""
