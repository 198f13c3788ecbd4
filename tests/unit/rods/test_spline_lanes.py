"""Four spans of a spline rod at once against the same formulas span by span, with plain numbers."""

from __future__ import annotations

import numpy as np
import pytest

import sennit as sn
from sennit.bodies.rod.spline import shape
from sennit.bodies.rod.spline.kernels.basis import blend3, control_dofs, controls
from sennit.bodies.rod.spline.kernels.forces import BASIS, FORCE, add_bending_point, add_spans, add_stretching_point
from sennit.bodies.rod.spline.kernels.strain import bend_strains, carry_frame, stretch_strain
from sennit.bodies.rod.spline.model import SPLINE
from sennit.compilation import CONTRACT, kernel
from sennit.geometry.kernels.algebra import add3, angle_of, wider
from sennit.lanes import four_at

SECTION = sn.Section.rectangle(0.02, 0.01)
MATERIAL = sn.Material(1e7, 0.4, 1000.0, relaxation_time=0.02)
# Without fused operations the two are the same bits. As built, they are fused elsewhere: some ulps of the largest term.
NEAR = 0.0 if CONTRACT == () else 1e-13


@kernel
def assemble_one_by_one(rod, kind, q, rate, exact, weight_f, weight_k, push, work, force, values):
    rods, bends, stretches = kind.rods, kind.bends, kind.stretches
    dof, n, band = rods.dof[rod], rods.count[rod], rods.band[rod]
    elastic = bends.stiffness, bends.rest
    for span in range(rods.spans[rod]):
        dofs = control_dofs(span, dof, n)
        points = controls(q, dofs)
        for i in range(16):
            work[FORCE + i] = 0.0
        first = True
        for row in range(rods.bend_first[rod], rods.bend_end[rod]):
            if bends.span[row] == span:
                add_bending_point(
                    points, row, 1.0, bends, elastic, kind.bend, rate, exact, weight_f, weight_k, first, work
                )
                first = False
        for row in range(rods.stretch_first[rod], rods.stretch_end[rod]):
            if stretches.span[row] == span:
                add_stretching_point(points, row, 1.0, stretches, kind.stretch, rate, weight_f, weight_k, push, work)
        add_spans(dofs, dof, band, 1, weight_k, work, force, values)


@kernel
def measure_one_by_one(rod, kind, q, dq, rate, frames, tensions):
    """Carry frames, write strains and tensions; return the largest turn and the energies, all row by row."""
    rods, bends, stretches = kind.rods, kind.bends, kind.stretches
    dof, n = rods.dof[rod], rods.count[rod]
    widest = bending = twisting = stretching = 0.0
    for row in range(rods.bend_first[rod], rods.bend_end[rod]):
        dofs = control_dofs(bends.span[row], dof, n)
        points = controls(q, dofs)
        carry_frame(points, bends, row, kind.bend, frames)
        k1, k2, tau = bend_strains(points, bends, frames, row)
        x1, x2, xt = k1 - bends.rest[row, 0], k2 - bends.rest[row, 1], tau - bends.rest[row, 2]
        half = 0.5 * bends.weight[row] * bends.speed[row]
        bending += half * (bends.stiffness[row, 0] * x1 * x1 + bends.stiffness[row, 1] * x2 * x2)
        twisting += half * bends.stiffness[row, 2] * xt * xt
        frames.strain[row, 0], frames.strain[row, 1], frames.strain[row, 2] = k1, k2, tau
        slopes = four_at(bends.slope_basis, row)
        a = blend3(points, slopes)
        widest = wider(widest, a, add3(a, blend3(controls(dq, dofs), slopes)))
    for row in range(rods.stretch_first[rod], rods.stretch_end[rod]):
        strain = stretch_strain(controls(q, control_dofs(stretches.span[row], dof, n)), stretches, row)
        tensions.strain[row] = strain
        half = 0.5 * stretches.weight[row] * stretches.speed[row]
        stretching += half * stretches.stiffness[row] * strain * strain
    return angle_of(widest), stretching, bending, twisting


def rod_of(posed, spans, closed, roll, bending_points=2):
    """A bent, twisted, stretched rod that was in another shape a step before; rolls of the size `roll`."""
    n = spans if closed else spans + 3
    if closed:
        angle = np.linspace(0.0, 2.0 * np.pi, n, endpoint=False)
        given = np.column_stack((np.cos(angle), np.sin(angle), 0.3 * np.sin(2.0 * angle)))
    else:
        x = shape.greville(n, False) / spans
        given = np.column_stack((x, 0.3 * np.sin(3.0 * x), 0.2 * np.cos(4.0 * x)))
    tables = SPLINE.tables(
        given, SECTION, MATERIAL, closed=closed, rest_curvature=(0.3, -0.7, 0.2), bending_points=bending_points
    )
    rng = np.random.default_rng(spans)
    rod = posed(tables, tables.rest + 0.01 * rng.standard_normal((n, 4)))
    for points in (rod.tables.bends, rod.tables.stretches):  # each point has numbers of its own
        points.stiffness[:] *= rng.uniform(0.2, 1.0, points.stiffness.shape)
        points.relaxation[:] *= rng.uniform(0.2, 1.0, len(points))
    rod.accept()
    rod.move(tables.rest + rng.standard_normal((n, 4)) * (0.02, 0.02, 0.02, roll))
    rod.store_tensions(0.4, 0.01 * rng.standard_normal(rod.q.size))
    return rod


SHAPES = [(spans, False) for spans in range(1, 10)] + [(spans, True) for spans in range(7, 12)]


def close(found, expected):
    size = np.max(np.abs(expected))
    return np.isfinite(size) and np.allclose(found, expected, rtol=0.0, atol=NEAR * size)


@pytest.mark.parametrize(("spans", "closed"), SHAPES)
def test_forces_and_stiffness_are_those_of_one_span_at_a_time(posed, spans, closed):
    for roll, points in ((0.1, 2), (3.0, 3)):
        rod = rod_of(posed, spans, closed, roll, points)
        assert rod.tensions.tension.min() < 0.0 or spans < 3  # `push` matters
        for exact, push, weight_k in ((1, 1, 0.7), (0, 0, 0.7), (1, 1, 0.0)):
            sizes = rod.dof0 + 4 * rod.n + 4, rod.band0 + 64 * rod.n + 4
            found, expected = ([np.zeros(size) for size in sizes] for _ in range(2))
            frames, tensions = rod.kind.bend, rod.kind.stretch
            rod.kind.span_block[:] = np.nan  # what a span before has left there is of no interest
            rod.kernels.assemble(
                rod.rod, rod.kind, rod.q, frames, tensions, 0.4, exact, 0.9, weight_k, push, *found
            )  # fmt: skip
            work = np.full(BASIS + 12, np.nan)
            assemble_one_by_one(rod.rod, rod.kind, rod.q, 0.4, exact, 0.9, weight_k, push, work, *expected)
            assert close(found[0], expected[0])
            assert close(found[1], expected[1]) if weight_k else not found[1].any()
            # Nothing is added beyond the rod, where lanes that are none could reach.
            assert not any(array[:start].any() for array, start in zip(found, (rod.dof0, rod.band0), strict=True))
            assert not any(array[-4:].any() for array in found)


@pytest.mark.parametrize(("spans", "closed"), SHAPES)
def test_frames_strains_turns_and_energies_are_those_of_one_row_at_a_time(posed, spans, closed):
    for roll in (0.1, 3.0):
        rod = rod_of(posed, spans, closed, roll)
        rng = np.random.default_rng(50 + spans)
        q = rod.q + 0.02 * rng.standard_normal(rod.q.size)
        dq = 0.05 * rng.standard_normal(rod.q.size)
        frames, tensions = rod.carried(q), rod.kind.stretch.copy()
        rod.kernels.accept_strains(rod.rod, rod.kind, q, frames, tensions)
        turn = rod.kernels.largest_turn(rod.rod, rod.kind, q, dq)
        energies = rod.kernels.energy(rod.rod, rod.kind, q, frames, 0.0)
        other, pulls = rod.kind.bend.copy(), rod.kind.stretch.copy()
        expected_turn, *expected = measure_one_by_one(rod.rod, rod.kind, q, dq, 0.4, other, pulls)
        for name, array in other.fields().items():
            assert close(getattr(frames, name), array), name  # the stranger's rows among them
        assert close(tensions.strain, pulls.strain)
        assert turn == pytest.approx(expected_turn, rel=NEAR, abs=0.0)
        assert energies == pytest.approx(expected, rel=NEAR, abs=0.0)
