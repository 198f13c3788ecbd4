"""The tables of branches: see `kernels.flow` for what they do."""

from __future__ import annotations

import numpy as np

from sennit.bodies.rod.branches.kernels.flow import FLAG, MAXWELL, SLIDER
from sennit.tables import PARAMETER, STATE, WORK, Table, number, whole

__all__ = ["Acting", "Branches", "Slips", "checked_branches", "repeated"]


class Branches(Table):
    """One row for each branch at each bending point: the branches of the first point, then those of the next."""

    kind = whole(PARAMETER, "which law its strain flows by, see `kernels.flow`")
    share = number(PARAMETER, "its part of the stiffness about d1, d2 and d3", 3)
    limit = number(PARAMETER, "strain that it holds at most, 1/m; inf: any", 3)
    time = number(PARAMETER, "relaxation time, s; 0: none")
    lower = number(PARAMETER, "lower plateau over the upper one")
    most = number(PARAMETER, "strain that transforms at most, over the limit")


class Slips(Table):
    """One row for each row of `Branches`."""

    strain = number(STATE, "p: what has flowed of its strain, 1/m", 3)
    lost = number(STATE, "energy that it has dissipated, J")


class Acting(Table):
    """One row for each bending point, in scenes whose rods have branches: what a solve takes there."""

    strain = number(WORK, "κ1, κ2, τ of the iterate, 1/m", 3)
    stiffness = number(WORK, "moment over strain from there on: B1, B2, GJ, N·m²", 3)
    rest = number(WORK, "strains at which it would have no moment, 1/m", 3)


def repeated(branches: Branches, points: int) -> Branches:
    """The same branches at each of so many points."""
    return Branches.joined([branches] * points) if len(branches) else branches


def checked_branches(given: Branches, count: int) -> Branches:
    """Branches that a file has of a rod, `count` at each point, if they can be ones; raises `ValueError` if not."""
    viscous = (given.kind == MAXWELL) & (given.share > 0.0).any(axis=1)
    fits = (
        0 < count <= len(given)
        and len(given) % count == 0
        and np.isin(given.kind, (MAXWELL, SLIDER, FLAG)).all()
        and (given.share >= 0.0).all()
        and (given.share.reshape(-1, count, 3).sum(axis=1) <= 1.0 + 1e-9).all()
        and (given.limit > 0.0).all()
        and (given.time[viscous] > 0.0).all()
        and ((given.lower >= 0.0) & (given.lower < 1.0)).all()
        and (given.most >= 0.0).all()
    )
    if not fits:
        raise ValueError("a rod has branches that take more than there is, or could give energy")
    return given
