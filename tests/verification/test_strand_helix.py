"""A uniformly curved and twisted strand under an end moment stays a helix: u = (K - mu I)^-1 K u^, m = mu u.

Closed form, any K.  Every rotation is the exponential of a constant, and positions integrated exactly on arcs leave
round-off only: 1e-10 asked.
"""

from __future__ import annotations

import numpy as np
import pytest
from references import helix
from references.library import loads, pose, strand
from references.rods import Rod, constant
from references.rotation import exp
from references.samples import FULL, ROUND

TOLERANCE = 1e-10
STRAIGHT = np.array([0.0, 0.0, 1.0])
CASES = [(FULL, (1.0, 2.0, 3.0), -0.6, 1.0), (FULL, (1.0, 2.0, 3.0), 0.2, 1.0), (ROUND, (0.0, 8.0, 6.0), -0.3, 2.0)]


def worst(state, u: np.ndarray) -> float:
    positions, rotations = helix.uniform(u, STRAIGHT, state.s)
    return max(np.abs(state.positions - positions).max(), np.abs(state.rotations - rotations).max())


@pytest.mark.parametrize(("stiffness", "rest", "mu", "length"), CASES)
@pytest.mark.parametrize("follower", [True, False])
def test_helix(stiffness, rest, mu, length, follower, validated):
    u, moment = helix.under_end_moment(stiffness, np.array(rest), mu)
    rotation = helix.uniform(u, STRAIGHT, np.array([length]))[1][0]
    torque = moment if follower else rotation @ moment
    rod = Rod(length, stiffness, rest_curvature=constant(rest), tip_torque=tuple(torque), follower=follower)
    state = strand(rod, nodes=201).solve(**loads(rod))
    validated(
        "Curved and twisted strand under an end moment: a helix",
        area="strand",
        quantity="poses, of the length",
        reference="closed form",
        error=worst(state, u),
        bound=TOLERANCE,
    )
    assert np.abs(state.curvatures - u).max() < 1e-9
    assert np.abs(state.moments - moment).max() < 1e-9  # the same vector everywhere: along the axis, which R u is
    assert np.abs(state.forces).max() < 1e-12


@pytest.mark.parametrize("order", [1, 2, 4])
def test_any_order_is_exact_when_the_strain_is_uniform(order):
    u, moment = helix.under_end_moment(FULL, np.array([1.0, 2.0, 3.0]), -0.4)
    rod = Rod(1.0, FULL, rest_curvature=constant((1, 2, 3)), tip_torque=tuple(moment), follower=True)
    state = strand(rod, nodes=51, order=order).solve(**loads(rod))
    assert worst(state, u) < TOLERANCE


@pytest.mark.parametrize("form", ["constant", "array", "function"])
def test_rest_shape(form):
    # no load: the strand lies in its rest shape, however that is given
    import sennit as sn

    rest = np.array([0.7, -2.0, 4.0])
    given = {"constant": tuple(rest), "array": np.tile(rest, (201, 1)), "function": lambda s: rest}[form]
    stiffness = np.zeros((6, 6))
    stiffness[:3, :3], stiffness[3:, 3:] = FULL, 1e3 * np.eye(3)
    curl = sn.Strand(length=1.5, stiffness=stiffness, rest_curvature=given, nodes=201)
    state = curl.solve(base=sn.Pose())
    assert worst(state, rest) < TOLERANCE
    assert abs(state.energy.total) < 1e-18


def test_rest_shape_that_shears(validated):
    # v^ need not be the tangent: a rod of laminae that lean
    rest, lean = np.array([0.7, -2.0, 4.0]), np.array([0.1, -0.2, 1.1])
    rod = Rod(1.0, FULL, rest_curvature=constant(rest), rest_stretch=constant(lean))
    state = strand(rod, nodes=201).solve(**loads(rod))
    positions, _ = helix.uniform(rest, lean, state.s)
    validated(
        "Sheared rest shape",
        area="strand",
        quantity="centreline, of the length",
        reference="closed form",
        error=np.abs(state.positions - positions).max(),
        bound=TOLERANCE,
    )
    assert np.abs(state.stretches - lean).max() < 1e-12


@pytest.mark.parametrize("mu", [-0.3, 0.15])
def test_helix_held_by_its_ends(mu, validated):
    rest = np.array([1.0, 2.0, 1.5])
    u, moment = helix.under_end_moment(FULL, rest, mu)
    positions, rotations = helix.uniform(u, STRAIGHT, np.array([1.0]))
    rod = Rod(1.0, FULL, rest_curvature=constant(rest))
    place = exp(np.array([0.4, 1.2, -0.3]))
    base = pose((0.1, 0.2, 0.3), place)
    state = strand(rod, nodes=201).solve(base=base, tip=base @ pose(positions[0], rotations[0]))
    assert np.abs(state.curvatures - u).max() < 1e-8
    validated(
        "Helix held by its ends",
        area="strand",
        quantity="torque of the grip, of EI/L",
        reference="closed form",
        error=np.abs(state.tip_torque - place @ moment).max(),
        bound=1e-8,
    )
    assert np.abs(state.tip_force).max() < 1e-8
    assert state.energy.total == pytest.approx(0.5 * (u - rest) @ FULL @ (u - rest), rel=1e-9)
