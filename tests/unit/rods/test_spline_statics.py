"""Equilibria of one spline rod by a small dense Newton method on its kernels, against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from references.elastica import end_loaded
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from sennit.bodies.rod.spline import shape
from sennit.bodies.rod.spline.model import SPLINE
from sennit.bodies.rod.spline.tables import Stretches
from sennit.bodies.rod.table import RodTables, StretchStates, StretchStrains


def equilibrium(rod, load, held, tolerance=1e-9):
    """Move `rod` to equilibrium under `load` (4 n,) with the degrees of freedom `held` kept.

    The stretch's geometric stiffness uses stored tensions; a multiple of the identity (in the rod's units, E I = L = 1)
    is added until the matrix is positive definite and no tangent turns by more than 0.8 rad.
    """
    free = np.setdiff1d(np.arange(4 * rod.n), held)
    mu = 0.0
    for iteration in range(60):
        force, K = rod.assembled(push=0)
        residual = (force + load)[free]
        if iteration and np.max(np.abs(residual)) < tolerance:
            return iteration
        K = K[np.ix_(free, free)]
        while True:
            dq = np.zeros_like(rod.q)
            try:
                dq[rod.dof0 + free] = cho_solve(cho_factor(K + mu * np.eye(len(free))), residual)
                turn = rod.largest_turn(dq)
            except LinAlgError:
                turn = math.inf
            if turn < 0.8:
                break
            mu = max(4.0 * mu, 1e-2)
        if turn < 0.5:
            mu = 0.25 * mu if mu > 1e-4 else 0.0
        rod.store_tensions(0.0, dq)
        rod.move((rod.q + dq)[rod.dof0 :])
    raise AssertionError("no equilibrium")


CLAMP = (0, 1, 2, 3, 5, 6)  # end, roll, and the direction along x: P1 stays on the line through P0


def tip_errors(posed, slender, load, counts, **options):
    reference = end_loaded(load)
    errors = []
    for n in counts:
        tables = SPLINE.tables(shape.straight_points((0, 0, 0), (1, 0, 0), n), *slender(1e8), **options)
        rod = posed(tables)
        force = np.zeros(4 * n)
        force[-2] = -load
        equilibrium(rod, force, CLAMP, tolerance=1e-5)  # EA/1e13
        tip = rod.q[-4:-1]
        assert abs(tip[1]) < 1e-9
        errors.append(math.hypot(tip[0] - reference.x, tip[2] - reference.y))
    return errors


def test_cantilever_converges_to_the_elastica_with_order_four(posed, slender):
    """P L²/EI = 30, EA L²/EI = 1e8: the measured error is 2.6e-5 at 24 points; extension moves the tip by 3e-7."""
    errors = tip_errors(posed, slender, 30.0, (16, 24, 32))
    assert errors[1] < 4e-5
    order = math.log(errors[0] / errors[2]) / math.log(29.0 / 13.0)
    assert 3.5 < order < 5.0


def test_three_bending_points(posed, slender):
    assert tip_errors(posed, slender, 30.0, (24,), bending_points=3)[0] < 4e-5


def test_rod_with_rest_curvature_and_twist_becomes_its_helix(posed, slender):
    """A straight rod let go, clamped at one end, coils up: the closed form needs the twist's gradient t×β/j."""
    curvature, torsion = 3.0, 2.0
    errors = []
    for n in (16, 32):
        tables = SPLINE.tables(
            shape.straight_points((0, 0, 0), (1, 0, 0), n), *slender(1e4), rest_curvature=(0.0, curvature, torsion)
        )
        rod = posed(tables)
        equilibrium(rod, np.zeros(4 * n), CLAMP)
        # d1 = d2 × d3 = z × x = y at the clamp is the helix's normal; its axis and radius follow from κ and τ.
        rate = math.hypot(curvature, torsion)
        radius, rise = curvature / rate**2, torsion / rate**2
        binormal, normal, tangent = np.cross((1.0, 0, 0), (0, 1.0, 0)), np.array((0, 1.0, 0)), np.array((1.0, 0, 0))
        axis = (torsion * tangent + curvature * binormal) / rate
        across = np.cross(axis, -normal)
        tip = radius * normal * (1.0 - math.cos(rate)) + radius * across * math.sin(rate) + rise * rate * axis
        errors.append(float(np.linalg.norm(rod.q[-4:-1] - tip)))
    assert errors[1] < 2e-5 and math.log(errors[0] / errors[1]) / math.log(29.0 / 13.0) > 3.5


@pytest.mark.parametrize("n", [4, 5, 8, 16])
@pytest.mark.parametrize("bending_points", [2, 3])
def test_a_free_straight_rod_has_its_six_rigid_motions_and_no_more(posed, slender, n, bending_points):
    tables = SPLINE.tables(shape.straight_points((0, 0, 0), (1, 0, 0), n), *slender(1e4), bending_points=bending_points)
    _, K = posed(tables).assembled()
    scale = 1.0 / np.sqrt(np.diag(K))
    found = np.linalg.eigvalsh(scale[:, None] * K * scale)
    assert np.count_nonzero(np.abs(found) < 1e-11) == 6
    assert found[6] > 1e-7


def test_a_free_ring_has_its_six_rigid_motions_and_no_more(posed, slender):
    angle = np.linspace(0.0, 2.0 * np.pi, 300, endpoint=False)
    circle = np.column_stack((np.cos(angle), np.sin(angle), 0.0 * angle))
    tables = SPLINE.tables(shape.fitted_points(circle, 14, closed=True), *slender(1e4), closed=True)
    _, K = posed(tables).assembled()
    scale = 1.0 / np.sqrt(np.diag(K))
    found = np.linalg.eigvalsh(scale[:, None] * K * scale)
    # A rigid rotation needs a roll that no spline has: its stiffness is small, not zero.
    assert found[6] > 100.0 * max(abs(found[0]), abs(found[5]))
    assert np.all(np.abs(found[:3]) < 1e-11)


def test_one_stretch_point_in_the_end_spans_would_leave_them_loose(posed, slender):
    """What the rule avoids: without the extra points at the ends two motions along the rod cost nothing."""
    n = 16
    tables = SPLINE.tables(shape.straight_points((0, 0, 0), (1, 0, 0), n), *slender(1e4))
    middles = np.arange(n - 3) + 0.5
    first, rows = shape.basis(middles, n - 3, False)
    stretches = Stretches(rows=n - 3)
    stretches.span[:], stretches.weight[:], stretches.speed[:] = first, 1.0, 1.0 / (n - 3)
    stretches.slope_basis[:], stretches.stiffness[:] = rows[:, 1], 1e4
    parts = {name: tables.part(name).copy() for name in ("rods", "masses", "bends", "bend", "bend_last", "halfway")}
    parts["rods"].stretch_end[0] = n - 3
    stretch, last = StretchStates(rows=n - 3), StretchStrains(rows=n - 3)
    kind = SPLINE.kind.holding(**parts, stretches=stretches, stretch=stretch, stretch_last=last)
    loose = RodTables(
        SPLINE, kind, rest=tables.rest, knot_lengths=tables.knot_lengths, bend_u=tables.bend_u, stretch_u=middles
    )
    _, K = posed(loose).assembled()
    scale = 1.0 / np.sqrt(np.diag(K))
    assert np.count_nonzero(np.abs(np.linalg.eigvalsh(scale[:, None] * K * scale)) < 1e-11) == 8
