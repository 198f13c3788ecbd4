"""Contact in the steps of a scene: the search, the second matrix, and the forces of what touches."""
