"""Branches of a whole rod: what a solve takes at its points, what they store, and their flow at the end of a step.

`kind` is a table of `Splines` or `Discretes`, `rod` a row of its rods. Strains of the iterate are in `kind.acting`,
those of the state in `kind.bend`.
"""

from __future__ import annotations

from sennit.bodies.kernels.frames import get3
from sennit.bodies.rod.branches.kernels.flow import respond
from sennit.compilation import inlined, kernel
from sennit.geometry.kernels.algebra import sub3


@inlined
def has_branches(rod, kind):
    """Whether a rod has any. Programs of graphics cards leave out what is done for them where there are none at all."""
    return kind.branches.kind.size > 0 and kind.rods.branches[rod] > 0


@kernel
def act(rod, kind, time, frozen, softest):
    """Stiffness and rest strains that a solve takes at each point: M = B (κ − κ̂) there, and so is ∂M/∂κ.

    `time`: since the state, s. `frozen`: see `respond`. `softest`: part of the stiffness that is taken at least, by
    which iterations that go round in a circle, as the tangent jumps, are stopped: from a half on, none do.
    """
    rods, bends, acting = kind.rods, kind.bends, kind.acting
    first, count = rods.slip_first[rod], rods.branches[rod]
    for row in range(rods.bend_first[rod], rods.bend_end[rod]):
        strain, rest, B = get3(acting.strain, row), get3(bends.rest, row), get3(bends.stiffness, row)
        before = sub3(get3(kind.bend.strain, row), rest)
        m, t, _ = respond(sub3(strain, rest), before, B, first, count, kind.branches, kind.slips, time, frozen, 0.0)
        for i in range(3):
            share = max(t[i], softest)
            acting.stiffness[row, i] = share * B[i]
            acting.rest[row, i] = strain[i] - m[i] / share
        first += count


@kernel
def stored(rod, kind, time):
    """Energies of bending and of twist, J, at the strains in `acting`, with what flows until then, a `time` later."""
    rods, bends, acting = kind.rods, kind.bends, kind.acting
    first, count = rods.slip_first[rod], rods.branches[rod]
    bending = twisting = 0.0
    for row in range(rods.bend_first[rod], rods.bend_end[rod]):
        rest, B = get3(bends.rest, row), get3(bends.stiffness, row)
        x = sub3(get3(acting.strain, row), rest)
        before = sub3(get3(kind.bend.strain, row), rest)
        _, _, energy = respond(x, before, B, first, count, kind.branches, kind.slips, time, 0, 0.0)
        length = bends.weight[row] * bends.speed[row]
        bending += length * energy[0]
        twisting += length * energy[1]
        first += count
    return bending, twisting


@kernel
def flow(rod, kind, time, frozen):
    """Let the strains of a rod's branches flow to the state's, from those of the state before, a `time` ago."""
    rods, bends = kind.rods, kind.bends
    first, count = rods.slip_first[rod], rods.branches[rod]
    for row in range(rods.bend_first[rod], rods.bend_end[rod]):
        rest, B = get3(bends.rest, row), get3(bends.stiffness, row)
        x, before = sub3(get3(kind.bend.strain, row), rest), sub3(get3(kind.bend_last.strain, row), rest)
        length = bends.weight[row] * bends.speed[row]
        respond(x, before, B, first, count, kind.branches, kind.slips, time, frozen, length)
        first += count
