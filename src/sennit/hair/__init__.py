"""Hair: very many rods that are alike, on a head that moves."""
