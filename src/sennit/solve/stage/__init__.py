"""One solve of the saddle-point system, from the iterate's forces to the moved iterate."""
