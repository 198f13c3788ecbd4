"""A sphere pressed on a half-space and dragged along it (Johnson, Contact Mechanics, 1985, §7.2; Mindlin 1949).

    k_t = 8 a G/(2 − ν)                                   at the first touch of a tangential drag, everywhere sticking
    Q = μP (1 − (1 − k_t δ/(3/2 μP))^{3/2})               while a ring slips;   δ_slip = 3/2 μP/k_t, then Q = μP

Normal and tangential tractions act on each other by (1 − 2ν)/(2 − 2ν) for a rigid sphere, which Mindlin leaves out: it
is 0.04 at ν = 0.48. The support, H = 200 a away, stiffens the drag by about a/H.

Where everything sticks the tractions are singular at the rim, and vertices up to there hold as if the imprint were a
part of a triangle wider: an error of first order in h, 4.7 % at 4 and 3.2 % at 6 triangles to the radius, which
extrapolation takes out. With slip the rim is smooth, and 4 triangles are enough.
"""

from __future__ import annotations

import numpy as np
import pytest

from sennit.geometry import Pose
from sennit.geometry.shapes import Sphere
from tests.verification.zones.half_space import PATCH, E, body

NU = 0.48
RADIUS = 50.0 * PATCH
APPROACH = PATCH**2 / RADIUS
BALL = Sphere((0.0, 0.0, RADIUS - APPROACH), RADIUS)


def tangential_stiffness(radius: float) -> float:
    return 8.0 * radius * E / (2.0 * (1.0 + NU)) / (2.0 - NU)


def dragged(friction: float, places, per_patch: int = 4):
    """Forces (k, 3) on the zone while the sphere goes to `places` along x, one after another; and all states."""
    zone = body(NU, 200.0, per_patch)
    state = zone.press(BALL, friction=friction)
    states = [state]
    for x in places:
        state = zone.press(BALL.moved(Pose((x, 0.0, 0.0))), friction=friction, after=state)
        states.append(state)
    return np.array([s.force for s in states]), states


def extrapolated(coarse: float, fine: float) -> float:
    """The limit of what errs by first order in h, from 4 and 6 triangles to the radius."""
    return 3.0 * fine - 2.0 * coarse


@pytest.mark.slow
def test_stiffness_without_slip(validated) -> None:
    ratios = []
    for per_patch in (4, 6):
        forces, states = dragged(5.0, [1e-3 * APPROACH], per_patch)
        assert not len(states[1].slipping)
        stiffness = (forces[1, 0] - forces[0, 0]) / (1e-3 * APPROACH)
        ratios.append(stiffness / tangential_stiffness(states[0].contact_radius))
    assert ratios[1] == pytest.approx(1.0, abs=0.035)
    validated(
        "Sticking sphere pushed sideways, mesh extrapolated",
        area="contact",
        quantity="stiffness",
        reference="Mindlin: 8Ga/(2 − ν)",
        error=abs(extrapolated(*ratios) - 1),
        bound=0.01,
    )


@pytest.mark.slow
def test_a_turn_is_felt(validated) -> None:
    """Turned about its axis, a sticking sphere meets the torque 16/3 G a³ θ (Johnson, eq. 3.109; Reissner & Sagoci)."""
    angle = 1e-4
    turn = BALL.pose @ Pose((0, 0, 0), (np.cos(angle / 2), 0, 0, np.sin(angle / 2))) @ BALL.pose.inverse()
    ratios = []
    for per_patch in (4, 6):
        zone = body(NU, 200.0, per_patch)
        first = zone.press(BALL, friction=50.0)
        second = zone.press(BALL.moved(turn), friction=50.0, after=first)
        expected = 16.0 / 3.0 * E / (2.0 * (1.0 + NU)) * first.contact_radius**3 * angle
        ratios.append((second.torque[2] - first.torque[2]) / expected)
    validated(
        "Sticking sphere turned, mesh extrapolated",
        area="contact",
        quantity="torque",
        reference="Reissner and Sagoci: 16Ga³θ/3",
        error=abs(extrapolated(*ratios) - 1),
        bound=0.02,
    )


def test_sliding(validated) -> None:
    """Partial slip follows Mindlin's curve; beyond its end everything slips with μP against the drag."""
    friction = 0.2
    rest, states = dragged(friction, [])
    limit = friction * -rest[0, 2]
    end = 1.5 * limit / tangential_stiffness(states[0].contact_radius)
    shares = np.array((0.25, 0.5, 0.75, 1.5, 2.0))
    forces, states = dragged(friction, shares * end)
    curve = 1.0 - np.maximum(1.0 - shares, 0.0) ** 1.5
    validated(
        "Sphere pushed until it slips",
        area="contact",
        quantity="force, of μP",
        reference="Mindlin's curve",
        error=np.abs(forces[1:, 0] / limit - curve).max(),
        bound=0.02,
    )
    for state in states[-2:]:
        assert len(state.slipping) == len(state.patch)
        assert np.hypot(*state.force[:2]) == pytest.approx(-friction * state.force[2], rel=2e-3)
    assert len(states[1].sticking) > len(states[2].sticking) > len(states[3].sticking) > 0


def test_loop_dissipates(validated) -> None:
    """Forth and back within partial slip: the loop repeats itself, and its area is Mindlin and Deresiewicz's.

    The way back is the first way, doubled and turned: Q(δ) = Q* − 2 Q₁((δ* − δ)/2), so ∮Q dδ = 8 ∫Q₁ − 4 Q* δ*.
    The ring that slips is a triangle and a half wide: a share of the loop that is known to 15 %.
    """
    friction = 0.2
    rest, states = dragged(friction, [])
    limit = friction * -rest[0, 2]
    end = 1.5 * limit / tangential_stiffness(states[0].contact_radius)
    amplitude = 0.6 * end
    steps = 8
    up = np.linspace(0.0, 1.0, steps + 1)[1:] * amplitude
    cycle = np.concatenate((np.linspace(1.0, -1.0, 2 * steps + 1)[1:], np.linspace(-1.0, 1.0, 2 * steps + 1)[1:]))
    places = np.concatenate((up, cycle * amplitude, cycle * amplitude, cycle * amplitude))
    forces, _ = dragged(friction, places)
    x, q = np.concatenate(((0.0,), places)), forces[:, 0]
    loops = [slice(steps + k * 4 * steps, steps + (k + 1) * 4 * steps + 1) for k in range(3)]
    work = [float(np.sum(0.5 * (q[loop][1:] + q[loop][:-1]) * np.diff(x[loop]))) for loop in loops]
    s = np.linspace(0.0, 1.0, 4001)
    share = 0.6 * s
    loading = 1.0 - (1.0 - share) ** 1.5
    peak = loading[-1]
    area = limit * end * (8.0 * np.trapezoid(loading, share) - 4.0 * peak * 0.6)
    assert work[2] == pytest.approx(work[1], rel=5e-3)
    validated(
        "Sphere pushed to and fro",
        area="contact",
        quantity="work of a loop",
        reference="Mindlin and Deresiewicz",
        error=abs(work[2] / area - 1),
        bound=0.15,
    )
