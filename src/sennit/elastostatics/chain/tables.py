"""The tables of a system of seams: what stands where, the zones' poses, and workspaces.

Vectors of seams hold the unknowns, vectors of zones what each zone sees of its seams. Places in them, in the zones'
matrices and in the panels are those of numbers.
"""

from __future__ import annotations

from sennit.tables import PARAMETER, PLAN, WORK, Table, number, table, whole

__all__ = ["Found", "Gaps", "Links", "Parts", "Plan", "Poses", "SeamWork", "Seams", "Updates", "Zones"]


class Seams(Table):
    """The seams in their order of elimination."""

    nodes = whole(PLAN, "nodes with padding")
    real = whole(PLAN, "nodes without padding")
    at = whole(PLAN, "place in vectors of seams")
    panel = whole(PLAN, "place of its panel")
    height = whole(PLAN, "height of its panel")
    own = whole(PLAN, "place of its owner's side in vectors of zones")
    other = whole(PLAN, "place of the other zone's side in vectors of zones")
    owner = whole(PLAN, "zone in whose frame its unknowns are")
    guest = whole(PLAN, "the other zone")


class Zones(Table):
    """The zones' condensed stiffnesses."""

    vector = whole(PLAN, "place in vectors of zones")
    size = whole(PLAN, "numbers there")
    matrix = whole(PLAN, "place of the stiffness in the matrices")


class Parts(Table):
    """What zones add to blocks below diagonals."""

    to = whole(PLAN, "place of the block in the panels")
    to_height = whole(PLAN, "height of its panel")
    source = whole(PLAN, "place of what is added in the matrices")
    source_size = whole(PLAN, "size of its matrix")
    row_nodes = whole(PLAN, "nodes of the row's seam")
    column_nodes = whole(PLAN, "nodes of the column's seam")
    left = whole(PLAN, "seam whose turn acts from the left; −1: none")
    right = whole(PLAN, "seam whose turn acts from the right; −1: none")
    first = whole(PLAN, "1 if it is the first in its block, which is cleared before")
    constant = whole(PLAN, "1 if no pose changes the block")


class Gaps(Table):
    """Blocks below diagonals that only elimination fills."""

    at = whole(PLAN, "place in the panels")
    height = whole(PLAN, "height of the panel")
    block_rows = whole(PLAN, "rows of the block")
    block_columns = whole(PLAN, "columns of the block")


class Links(Table):
    """Blocks under the panels' diagonals, in order of one of their seams."""

    column = whole(PLAN, "seam of the column", of="blocks")
    row = whole(PLAN, "seam of the row", of="blocks")
    begin = whole(PLAN, "row of the panel in which the block begins", of="blocks")
    starts = whole(PLAN, "where each seam's blocks begin, and the last ones end", of="ends")


class Updates(Table):
    """Products X_q X_rᵀ of blocks of a panel, which are taken from a later panel when the first is eliminated."""

    q_begin = whole(PLAN, "row of the panel in which X_q begins", of="products")
    r_begin = whole(PLAN, "row of the panel in which X_r begins", of="products")
    target = whole(PLAN, "place of what the product is taken from", of="products")
    target_height = whole(PLAN, "height of that panel", of="products")
    q_size = whole(PLAN, "rows of X_q", of="products")
    r_size = whole(PLAN, "rows of X_r", of="products")
    lower = whole(PLAN, "1 if only the lower triangle is wanted", of="products")
    starts = whole(PLAN, "where each panel's products begin, and the last ones end", of="ends")


class Plan(Table):
    """Which seams meet in which zones, and where everything of them stands."""

    seams = table(Seams, "in order of elimination")
    zones = table(Zones, "condensed on their seams")
    parts = table(Parts, "what zones add to blocks below diagonals")
    gaps = table(Gaps, "blocks that only elimination fills")
    filled = table(Links, "blocks that zones fill, in order of their columns")
    across = table(Links, "the same in order of their rows")
    factored = table(Links, "blocks of the factor, in order of their columns")
    updates = table(Updates, "products of the factorisation, in order of the panels they come from")
    own_rest = number(PLAN, "rest places of the seams' nodes in their owners' frames, by component, m", of="unknowns")
    other_rest = number(PLAN, "the same in the other zones' frames, m", of="unknowns")


class Poses(Table):
    """Where the zones' frames are."""

    rotation = number(PARAMETER, "R, from the zone's frame to the world's", 3, 3)
    position = number(PARAMETER, "p of the zone's origin in the world, m", 3)


class Found(Table):
    """How good a solution is, in one row."""

    sweeps = whole(WORK, "block Gauss–Seidel sweeps")
    residual = number(WORK, "|b − A v| / |b|")
    error = number(WORK, "estimated relative error of v")


class SeamWork(Table):
    """The zones' stiffnesses and the scratch of a solve."""

    found = table(Found, "how good the last solution was")
    matrices = number(PARAMETER, "condensed stiffnesses, one after another, N/m", of="matrix_numbers")
    turns = number(WORK, "Q from owners' frames to the other zones', one a seam; then the identity", 3, 3, of="turns")
    offsets = number(WORK, "g: what the poses displace, in vectors of zones, m", of="zone_axes")
    bracket = number(WORK, "h − K g, then the zones' reactions, in vectors of zones, N", of="zone_axes")
    b = number(WORK, "right side, in vectors of seams, N", of="unknowns")
    change = number(WORK, "what a sweep or an estimate changes of the unknowns, m", of="unknowns")
    residual = number(WORK, "b − A v, N", of="unknowns")
