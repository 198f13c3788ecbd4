"""What bodies, loads and rows put into the saddle-point system."""
