"""Which equilibria are stable: Euler's and Greenhill's critical loads, conjugate points, and lists of equilibria.

Straight states are exact on any mesh, and critical loads converge with h^4, so a thousandth either side decides.
"""

from __future__ import annotations

import numpy as np
import pytest
from references import buckling, elastica, equilibrium
from references.library import pose, strand
from references.rods import Rod
from references.rotation import exp
from references.samples import extensible_rod, flat_rod, full_rod, round_rod

import sennit as sn


def is_straight(state) -> bool:
    return bool(np.abs(state.positions[:, :2]).max() < 1e-7)


def test_euler_column(validated):
    # clamped-free: P_c = pi^2 EI/(4 L^2), about the soft axis d1
    column = strand(flat_rod(), nodes=101)
    below = column.solve(base=sn.Pose(), tip_force=(0, 0, -0.999 * buckling.CLAMPED_FREE))
    assert is_straight(below)
    assert below.stable is True
    above = column.solve(base=sn.Pose(), tip_force=(0, 0, -1.001 * buckling.CLAMPED_FREE))
    assert above.stable is True  # the straight state is left
    assert not is_straight(above)
    # straight at 0.999 of it, bowed at 1.001
    validated(
        "Euler column, clamped and free",
        area="strand",
        quantity="critical load, bracket",
        reference="π²EI/4L²",
        error=1e-3,
        bound=1e-3,
    )


@pytest.mark.parametrize("excess", [1.001, 1.1, 2.0])
def test_buckled_column(excess, validated):
    known = elastica.buckled_at_load(excess * buckling.CLAMPED_FREE, 1)
    state = strand(flat_rod(), nodes=201).solve(base=sn.Pose(), tip_force=(0, 0, -known.load))
    assert abs(state.positions[-1, 0]) < 1e-6
    # just above P_c the amplitude is sqrt(P - P_c): errors of P_c are magnified 1/(2 excess)
    assert abs(state.positions[-1, 1]) == pytest.approx(known.deflection, abs=1e-6)
    validated(
        "Column beyond its critical load",
        area="strand",
        quantity="height of the tip, of the length",
        reference="elliptic integrals",
        error=abs(state.positions[-1, 2] - 1 + known.shortening),
        bound=1e-6,
    )
    assert state.energy.elastic == pytest.approx(known.energy, abs=1e-5)
    assert state.stable is True


def test_a_straight_guess_above_the_critical_load_is_left():
    column = strand(flat_rod(), nodes=101)
    straight = column.solve(base=sn.Pose(), tip_force=(0, 0, -0.5 * buckling.CLAMPED_FREE))
    assert is_straight(straight)
    state = column.solve(base=sn.Pose(), tip_force=(0, 0, -1.5 * buckling.CLAMPED_FREE), guess=straight)
    assert not is_straight(state)
    assert state.stable is True


def test_clamped_column_that_shortens(validated):
    stiffness = np.diag([1.0, 1.7, 0.77, 200.0, 300.0, 1e3])
    critical = buckling.clamped_column(1.0, 300.0, 1e3)  # bending about d1 shears along d2
    column = strand(Rod(1.0, stiffness), nodes=201)
    near = column.solve(base=sn.Pose(), tip=sn.Pose((0, 0, 1.0)))
    assert is_straight(near)
    below = column.solve(base=sn.Pose(), tip=sn.Pose((0, 0, 1 - 0.999 * critical / 1e3)), guess=near)
    assert is_straight(below)
    assert below.stable is True
    assert below.tip_force[2] == pytest.approx(-0.999 * critical, rel=1e-9)
    above = column.solve(base=sn.Pose(), tip=sn.Pose((0, 0, 1 - 1.001 * critical / 1e3)), guess=below)
    assert not is_straight(above)
    assert above.stable is True
    # past the critical load the force hardly grows
    validated(
        "Clamped column that shears and shortens",
        area="strand",
        quantity="critical load",
        reference="characteristic equation",
        error=abs(-above.tip_force[2] / critical - 1),
        bound=2e-3,
    )


@pytest.mark.parametrize("shear", [300.0, 1e3])
def test_greenhill(shear, validated):
    # a straight rod twisted between clamps a length apart: tan(x)(1 + x^2 B/(GA (L/2)^2)) = x, M = 2 B x/L
    twist = 0.77
    critical = buckling.greenhill(1.0, 1.0, shear)
    rod = Rod(1.0, np.diag([1.0, 1.0, twist, shear, shear, 1e3]))
    thread = strand(rod, nodes=201)

    def turned(moment: float) -> sn.Pose:
        return pose((0, 0, 1.0), exp(np.array([0, 0, np.remainder(moment / twist + np.pi, 2 * np.pi) - np.pi])))

    state = thread.solve(base=sn.Pose(), tip=sn.Pose((0, 0, 1.0)))
    for fraction in np.linspace(0.0, 0.999, 61)[1:]:
        state = thread.solve(base=sn.Pose(), tip=turned(fraction * critical), guess=state)
    assert is_straight(state)
    assert state.tip_torque[2] == pytest.approx(0.999 * critical, rel=1e-9)
    assert state.stable is True
    over = thread.solve(base=sn.Pose(), tip=turned(1.001 * critical), guess=state)
    assert not (is_straight(over) and over.stable)
    assert over.stable is True
    # straight and stable at 0.999 of it, not at 1.001
    validated(
        "Rod twisted between clamps",
        area="strand",
        quantity="critical moment, bracket",
        reference="Greenhill 1883, with shear",
        error=1e-3,
        bound=1e-3,
    )


def test_twist_is_not_forgotten():
    # the guess carries the turns that a pose can't say: three turns of twist, and back
    thread = strand(Rod(1.0, np.diag([1.0, 1.0, 0.3, 300.0, 300.0, 1e3])), nodes=101)
    state = thread.solve(base=sn.Pose(), tip=sn.Pose((0, 0, 1.02)))
    for angle in np.linspace(0, 6 * np.pi, 61)[1:]:
        tip = pose((0, 0, 1.02), exp(np.array([0, 0, angle % (2 * np.pi)])))
        state = thread.solve(base=sn.Pose(), tip=tip, guess=state)
    assert state.tip_torque[2] == pytest.approx(0.3 * 6 * np.pi, rel=1e-6)


@pytest.mark.parametrize("make", [full_rod, extensible_rod])
def test_equilibria(make):
    rod = make()
    thread = strand(rod, nodes=101)
    tip = pose((0.25, 0.2, 0.35), exp(np.array([0.9, -0.8, 0.6])))
    found = thread.equilibria(base=sn.Pose(), tip=tip)
    assert len(found) >= 2
    energies = [state.energy.total for state in found]
    assert energies == sorted(energies)
    assert found[0].stable is True
    for state in found:
        assert state.report.converged
        assert state.stable in (True, False)
        assert np.abs(state.positions[-1] - tip.position).max() < 1e-8
        assert np.abs(state.rotations[-1] - tip.rotation).max() < 1e-8
        assert equilibrium.defects(rod, state).worst < 1e-2
    # distinct
    for i, a in enumerate(found):
        for b in found[i + 1 :]:
            assert max(np.abs(a.positions - b.positions).max(), np.abs(a.rotations - b.rotations).max()) > 1e-3
    # what solve returns is one of them, and none lies lower
    single = thread.solve(base=sn.Pose(), tip=tip)
    assert single.energy.total >= energies[0] - 1e-8
    assert min(np.abs(single.positions - state.positions).max() for state in found) < 1e-6


@pytest.mark.parametrize("make", [full_rod, extensible_rod])
@pytest.mark.parametrize("seed", range(3))
def test_stability_is_the_absence_of_conjugate_points(make, seed):
    # Jacobi fields, integrated by scipy along each equilibrium: stable if and only if their determinant keeps its sign
    rod = make()
    generator = np.random.default_rng(seed)
    direction = generator.normal(size=3)
    position = 0.45 * direction / np.linalg.norm(direction)
    tip = pose(position, exp(generator.normal(size=3)))
    for state in strand(rod, nodes=201).equilibria(base=sn.Pose(), tip=tip)[:4]:
        wrench = np.concatenate([state.forces[0], state.moments[0]])
        assert (buckling.conjugate_points(rod, wrench) == 0) == state.stable


def test_mirror_images():
    # half a turn of twist either way: two strands of equal energy, mirror images in a plane through the axis
    thread = strand(flat_rod(), nodes=101)
    tip = pose((0, 0, 0.8), exp(np.array([0, 0, np.pi])))
    found = [s for s in thread.equilibria(base=sn.Pose(), tip=tip) if s.stable]
    assert len(found) >= 2
    lowest = [s for s in found if s.energy.total < found[0].energy.total * (1 + 1e-6)]
    assert len(lowest) >= 2
    handed = {float(np.sign(s.tip_torque[2])) for s in lowest}
    assert handed == {1.0, -1.0}


@pytest.mark.parametrize("make", [round_rod, flat_rod])
def test_a_ring_is_kept_by_its_ends(make, validated):
    # both ends at one place and in one frame: a closed strand; the circle of one turn has energy 2 pi^2 EI/L
    thread = strand(make(), nodes=201)
    found = thread.equilibria(base=sn.Pose(), tip=sn.Pose())
    assert len(found) >= 1
    validated(
        "Strand closed to a ring",
        area="strand",
        quantity="energy",
        reference="2π²EI/L",
        error=min(abs(s.energy.total / (2 * np.pi**2) - 1) for s in found),
        bound=1e-5 / (2 * np.pi**2),
    )
