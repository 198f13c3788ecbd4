"""The discrete elastic rod: straight edges between nodes, bending and twist at the nodes."""
