"""Small dense problems with bounds on the unknowns: one-sided rows, motors and friction."""
