"""The curve of a spline rod: its basis functions and vectors carried along it."""
