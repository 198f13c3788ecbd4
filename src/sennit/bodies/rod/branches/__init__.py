"""Rods that yield, creep and slip: branches in parallel at each bending point."""
