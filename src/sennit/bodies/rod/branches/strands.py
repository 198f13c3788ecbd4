"""The branch of a stranded cable, whose strands stick to each other until bending makes them slip.

One slider beside what stays elastic, with κ = √(κ1² + κ2²) on the first loading::

    M = EI_stuck κ                              while M ≤ slip_moment
    M = slip_moment + EI (κ − slip_moment/EI_stuck)   beyond

On the way back they stick again until the moment has changed by twice the slip moment (Masing). The wires of a cable
slip one after the other, so that its corner is round; here it is sharp.

(F. Foti and L. Martinelli, Mechanical modeling of metallic strands subjected to tension, torsion and bending, Int. J.
Solids Struct. 91 (2016))
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from sennit.bodies.rod.branches.kernels.flow import SLIDER
from sennit.bodies.rod.branches.table import Branches

__all__ = ["sticking_strands"]


def sticking_strands(EI_stuck: ArrayLike, EI: ArrayLike, slip_moment: ArrayLike) -> Branches:
    """One slider for each of the numbers (k,): `EI_stuck` and `EI`, N·m², are stiffnesses before and after the slip at
    `slip_moment`, N·m.
    """
    stuck, slipping, moment = np.atleast_1d(EI_stuck, EI, slip_moment)
    made = Branches(rows=len(stuck))
    made.kind[:] = SLIDER
    made.share[:, :2] = (1.0 - slipping / stuck)[:, None]
    made.limit[:, :2], made.limit[:, 2] = (moment / stuck)[:, None], math.inf  # twist slips nothing
    return made
