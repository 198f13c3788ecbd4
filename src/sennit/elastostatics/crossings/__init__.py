"""Which segments meet which triangles: self-intersection and the thickness of walls."""
