"""Rods that vary along their length and yield, creep, transform or slip: against integrals along them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import sennit as sn

E, STRESS = 70e9, 200e6
ALUMINIUM = sn.Material(E, 0.33, 2700, yield_stress=STRESS)
SPRING = sn.Material(E, 0.33, 2700)
BAR = sn.Section.rectangle(2e-3, 1e-3)
FIRST = 2.0 * STRESS / (E * 1e-3)
YIELD = STRESS * 2e-3 * 1e-3**2 / 6.0
LENGTH = 0.02
GAUSS, WEIGHT = np.polynomial.legendre.leggauss(200)


def cantilever(length: float, points: int, **made_of: Any) -> tuple[Any, Any, Any]:
    """Clamped at its start: scene, rod, and a load at its end, which is 0."""
    scene = sn.Scene(gravity=(0, 0, 0), integrator=made_of.pop("integrator", "euler"))
    rod = scene.add(sn.Rod.straight((0, 0, 0), (length, 0, 0), control_points=points, **made_of))
    scene.add(sn.Clamp(rod.at(0)))
    return scene, rod, scene.add(sn.Load(rod.at(length)))


def radius(s: float) -> float:
    return 1e-3 - 0.4e-3 * s / LENGTH


def stiffness(s: float) -> float:
    return E * math.pi * radius(s) ** 4 / 4.0


def curvature(moment: float, s: float) -> float:
    """κ of elastic, ideally plastic fibres of the disc at s under a moment: by quadrature over its height."""
    r = radius(s)
    y, area = r * GAUSS, 2.0 * r * WEIGHT * np.sqrt(r * r - (r * GAUSS) ** 2)
    k = moment / stiffness(s)
    if E * k * r <= STRESS:
        return k
    return float(brentq(lambda x: np.sum(area * y * np.clip(E * x * y, -STRESS, STRESS)) - moment, 0.9 * k, 40.0 * k))


def test_a_taper_bent_by_a_force_springs_back_as_its_fibres_say(validated: Any) -> None:
    """∫ κ(M(s), s) (L − s) ds, less M/EI when the force is gone; small rotations."""
    scene, rod, load = cantilever(LENGTH, 12, section=lambda s: sn.Section.circle(radius(s)), material=ALUMINIUM)
    force = 1.25 * STRESS * math.pi * 0.25e-9 / LENGTH
    s, ds = 0.5 * LENGTH * (GAUSS + 1.0), 0.5 * LENGTH * WEIGHT
    arm = LENGTH - s
    bent = np.array([curvature(force * x, LENGTH - x) for x in arm])
    under = float((ds * arm) @ bent)
    left = under - float((ds * arm) @ [force * x / stiffness(LENGTH - x) for x in arm])
    errors = []
    for share, expected in ((1.0, under), (0.0, left)):
        load.force = (0.0, 0.0, -share * force)
        assert scene.settle().stable
        errors.append(abs(-rod.at(LENGTH).position[2] - expected) / under)
    # M is met to 0.14 % of what a section can take, and κ changes by up to twice that
    validated(
        "Spring-back of a taper bent by a tip force", area="rods in scenes",
        quantity="tip under load, and what is left, of the first", reference="integrals over fibres and length",
        error=max(errors), bound=3e-3,
    )  # fmt: skip
    assert scene.dissipated > 0.0


@pytest.mark.parametrize(("model", "counts", "order"), [("spline", (6, 12), 3.5), ("discrete", (12, 24), 1.8)])
def test_a_taper_creeps_to_what_is_left_of_its_stiffness(model: str, counts: tuple[int, int], order: float) -> None:
    """In the end ∫ F (L − s)²/(g∞ EI) ds; errors fall as those of elastic rods do."""
    gum = sn.Material(E, 0.33, 2700, prony=[(0.3, 0.1), (0.3, 1.0)])
    s, ds = 0.5 * LENGTH * (GAUSS + 1.0), 0.5 * LENGTH * WEIGHT
    force = 1e-3  # bends by 1e-5 of its length
    errors = []
    for count in counts:
        scene, rod, load = cantilever(
            LENGTH, count, section=lambda s: sn.Section.circle(radius(s)), material=gum, model=model
        )
        load.force = (0.0, 0.0, -force)
        for instant, left in ((True, 1.0), (False, 0.4)):
            scene.settle(instant=instant)
            expected = float(ds @ [force * (LENGTH - x) ** 2 / (left * stiffness(x)) for x in s])
            error = abs(-rod.at(LENGTH).position[2] / expected - 1.0)
        errors.append(error)
    spans = {"spline": 3, "discrete": 1}[model]
    ratio = (counts[1] - spans) / (counts[0] - spans)
    assert math.log(errors[0] / errors[1]) / math.log(ratio) > order
    assert errors[1] < {"spline": 1e-4, "discrete": 5e-3}[model]


@pytest.mark.parametrize("integrator", ["euler", "bdf2", "midpoint"])
def test_a_taper_creeps_as_zeners(validated: Any, integrator: str) -> None:
    """Each place by its own: all have the law δ/δ₀ = 1/g∞ − (1/g∞ − 1) e^(−t g∞/τ)."""
    left, time = 0.4, 0.5
    gum = sn.Material(1e9, 0.45, 10.0, prony=[(1.0 - left, time)])
    scene, rod, load = cantilever(
        0.2, 8, section=[sn.Section.circle(4e-3), sn.Section.circle(2e-3)], material=gum, integrator=integrator
    )
    load.force = (0.0, 0.0, -0.002)
    scene.settle(instant=True)
    tip, worst = rod.at(0.2), 0.0
    first = tip.position[2]
    for _ in range(100):
        scene.step(0.02)
        expected = 1.0 / left - (1.0 / left - 1.0) * math.exp(-scene.time * left / time)
        worst = max(worst, abs(tip.position[2] / first / expected - 1.0))
    validated(
        "Zener creep of a taper", area="rods in scenes", quantity="deflection over 4 relaxation times",
        reference="closed form", error=worst, bound=2e-3,
    )  # fmt: skip
    assert scene.dissipated > 0.0


def bent(moment: float) -> float:
    """κ/κ_e of a rectangle under M/M_y, loaded for the first time."""
    return moment if moment <= 1.0 else 1.0 / math.sqrt(3.0 - 2.0 * moment)


@pytest.mark.parametrize(("cut", "points"), [(0.1, 23), (0.0937, 23), (0.0937, 43)])
def test_an_annealed_zone_yields_and_the_hard_wire_does_not(validated: Any, cut: float, points: int) -> None:
    """Under 1.2 M_y its half has κ_e/√(3 − 2·1.2), and keeps that less 1.2 κ_e; the other half comes back."""
    scene, rod, load = cantilever(0.2, points, pieces=[(cut, BAR, ALUMINIUM), (None, BAR, SPRING)])
    ends = []
    for moment in (1.2, 0.0):
        load.torque = (0.0, moment * YIELD, 0.0)
        assert scene.settle().stable
        d3 = rod.frames(2)[-1][:, 2]
        ends.append(math.atan2(-d3[2], d3[0]))
    under = FIRST * (cut * bent(1.2) + (0.2 - cut) * 1.2)
    left = FIRST * cut * (bent(1.2) - 1.2)
    # as of a uniform wire: M is met to 0.12 % of M_p, and κ changes by 2.2 times that
    validated(
        "Spring-back of a wire, half of which is annealed", area="rods in scenes",
        quantity="turn of the end under 1.2 M_y and after it, of the first", reference="closed form of a rectangle",
        error=max(abs(ends[0] - under), abs(ends[1] - left)) / under, bound=4.5e-3,
    )  # fmt: skip
    s, made = rod.rest_strains()[0], np.abs(rod.plastic_curvature[:, 0])
    assert made[s < cut - 0.02].min() > 0.08 * FIRST and made[s > cut + 0.02].max() == 0.0


def test_a_soft_tip_on_a_stiff_shaft_is_as_exact_as_without_laws_while_nothing_yields() -> None:
    """Nitinol on steel: bending stiffnesses jump by 8; a force at the end turns it exactly, by jumps.py."""
    steel = sn.Material(200e9, 0.3, 7850, yield_stress=800e6)
    nitinol = sn.Material(60e9, 0.33, 6450, superelastic=(500e6, 200e6, 0.05))
    thick, thin = sn.Section.circle(0.5e-3), sn.Section.circle(0.4e-3)
    shaft = 0.0613
    scene, rod, load = cantilever(0.1, 20, pieces=[(shaft, thick, steel), (None, thin, nitinol)])
    force = 1e-3
    load.force = (0.0, 0.0, -force)
    scene.settle()
    stiff, soft = 200e9 * thick.I1, 60e9 * thin.I1
    rest = 0.1 - shaft
    expected = force * ((0.1**3 - rest**3) / (3.0 * stiff) + rest**3 / (3.0 * soft))
    assert -rod.at(0.1).position[2] == pytest.approx(expected, rel=2e-6)  # and rotations of 1e-3, squared
    assert scene.dissipated == 0.0 and not rod.plastic_curvature.any()
    # pulled round, the tip transforms and comes back, and the shaft does not yield
    load.torque, load.force = (0.0, 1.4 * 500e6 * thin.I1 / 0.4e-3, 0.0), (0.0, 0.0, 0.0)
    scene.settle()
    s = rod.rest_strains()[0]
    made = np.abs(rod.plastic_curvature[:, 0])
    assert made[s > shaft + 0.02].min() > 1.0 and made[s < shaft - 0.02].max() == 0.0
    load.torque = (0.0, 0.0, 0.0)
    scene.settle()
    assert rod.at(0.1).position == pytest.approx((0.1, 0.0, 0.0), abs=1e-9) and scene.dissipated > 0.0


def test_strands_slip_where_the_moment_is_above_theirs(validated: Any) -> None:
    """EI, EI_stuck and the slip moment fall along a cable; under an end torque κ = κ_s + (M − M_s)/EI."""
    stuck, slack, slip = (lambda s: 4.0 - 5.0 * s), (lambda s: 0.6 - s), (lambda s: 1.2 - 2.0 * s)
    cable = sn.Properties(EA=2e6, EI=slack, GJ=0.3, mass=0.15, radius=4e-3, EI_stuck=(4.0, 3.25, 2.5), slip_moment=slip)
    scene, rod, load = cantilever(0.3, 40, properties=cable)
    s = 0.15 * (GAUSS + 1.0)
    errors = []
    for moment, most in ((0.9, 0.9), (0.0, 0.9)):
        load.torque = (0.0, moment, 0.0)
        scene.settle()
        slips = np.maximum(most - slip(s), 0.0)
        turned = (most - slips) / stuck(s) + slips / slack(s) - (most - moment) / stuck(s)
        d3 = rod.frames(2)[-1][:, 2]
        errors.append(abs(math.atan2(-d3[2], d3[0]) - 0.15 * WEIGHT @ turned))
    # κ has a kink where strands begin to slip: a span of 8 mm, by which it is missed to second order
    validated(
        "A cable whose slip moment falls along it", area="rods in scenes",
        quantity="turn of its end, under load and left",
        reference="integral of the bilinear law", error=max(errors), bound=1e-3,
    )  # fmt: skip
    assert rod.plastic_curvature[:, 0].max() > 0.1 and scene.dissipated > 0.0


@pytest.mark.parametrize("model", ["spline", "discrete"])
def test_what_a_flung_rod_of_pieces_loses_is_what_its_branches_took(validated: Any, model: str) -> None:
    """ "midpoint" keeps energy: kinetic, stored and dissipated energy are what was there at first."""
    nitinol = sn.Material(60e9, 0.33, 6450, superelastic=(300e6, 120e6, 0.05))
    pieces = [(0.04, BAR, ALUMINIUM), (0.03, BAR, SPRING), (None, sn.Section.rectangle(2e-3, 0.7e-3), nitinol)]
    scene, rod, _ = cantilever(0.1, 12, pieces=pieces, model=model, integrator="midpoint")
    s = np.linspace(0.0, 1.0, len(rod.control_points))
    rod.control_velocities = np.column_stack((0 * s, 10 * s**2, 40 * s**2)) * (s > 0.2)[:, None]
    first, before = scene.energy.total, 0.0
    for _ in range(150):
        scene.step(1e-4)
        assert scene.dissipated >= before  # all that was taken stays taken
        before = scene.dissipated
    assert scene.dissipated > 0.2 * first
    validated(
        "A rod of three laws flung against its clamp", area="rods in scenes",
        quantity="energy, stored, moved and dissipated", reference="conservation",
        error=abs((scene.energy.total + scene.dissipated) / first - 1.0), bound=2e-4,
    )  # fmt: skip


@pytest.mark.parametrize("model", ["spline", "discrete"])
@pytest.mark.parametrize(
    "material",
    [
        ALUMINIUM,
        sn.Material(1e9, 0.4, 1200, prony=[(0.3, 0.1), (0.2, 5.0)]),
        sn.Material(60e9, 0.33, 6450, superelastic=(300e6, 120e6, 0.05)),
    ],
)
def test_what_varies_by_nothing_is_a_uniform_rod(material: sn.Material, model: str) -> None:
    found = []
    for made_of in (
        {"section": BAR, "material": material},
        {"section": lambda s: BAR, "material": material},
        {"section": BAR, "material": [material, material, material]},
        {"pieces": [(0.033, BAR, material), (None, BAR, material)]},
    ):
        scene, rod, _ = cantilever(0.1, 8, **made_of, model=model)
        s = np.linspace(0.0, 1.0, 8)
        rod.control_velocities = np.column_stack((0 * s, 0 * s, 30 * s**2)) * (s > 0.3)[:, None]
        for _ in range(20):
            scene.step(1e-4)
        found.append((rod.control_points, rod.plastic_curvature, scene.dissipated))
    for points, made, lost in found[1:]:  # masses are integrated, and jumps looked for, to rounding
        assert points == pytest.approx(found[0][0], rel=0, abs=1e-12)
        assert made == pytest.approx(found[0][1], rel=1e-7, abs=1e-9)
        assert lost == pytest.approx(found[0][2], rel=1e-9)


def test_a_tube_whose_wall_changes_has_the_law_of_its_place() -> None:
    """Where there are many, corners are looked for at rounded ratios."""
    _, rod, _ = cantilever(0.1, 30, section=lambda s: sn.Section.tube(2e-3, 1e-3 + 8e-3 * s), material=ALUMINIUM)
    count, places = int(rod.tables.rods.branches[0]), rod.tables.places.s[rod.tables.places.bend]
    share = rod.tables.branches.share.reshape(len(places), count, 3)
    limit = rod.tables.branches.limit.reshape(len(places), count, 3)
    for k in range(0, len(places), 7):
        own = sn.Rod.straight(
            (0, 0, 0), (1, 0, 0), section=sn.Section.tube(2e-3, 1e-3 + 8e-3 * places[k]), material=ALUMINIUM
        ).tables.branches.part(0, count)
        x = np.geomspace(0.5, 20.0, 200) * own.limit[0, 0]
        for law in ((share[k], limit[k]),):
            here = x * (1.0 - law[0][:, 0].sum()) + np.minimum(x[:, None], law[1][:, 0]) @ law[0][:, 0]
            there = x * (1.0 - own.share[:, 0].sum()) + np.minimum(x[:, None], own.limit[:, 0]) @ own.share[:, 0]
            assert np.abs(here - there).max() < 3e-3 * there.max()


def test_what_varies_can_be_set_while_it_runs() -> None:
    """A zone of a bent wire is annealed; the section of one that has yielded is ground to a taper."""
    scene, rod, load = cantilever(0.1, 12, section=BAR, material=ALUMINIUM)
    soft = ALUMINIUM.varied(yield_stress=50e6)
    load.torque = (0.0, 0.9 * YIELD, 0.0)
    scene.settle()
    assert scene.dissipated == 0.0
    rod.material = lambda s: soft if s > 0.05 else ALUMINIUM
    load.torque = (0.0, 0.3 * YIELD, 0.0)
    scene.settle()
    s = rod.rest_strains()[0]
    made = np.abs(rod.plastic_curvature[:, 0])
    assert made[s < 0.04].max() < 1e-9 < 0.01 * FIRST < made[s > 0.06].min()
    snapshot = scene.snapshot()
    rod.section = [BAR, sn.Section.rectangle(1e-3, 0.5e-3)]
    assert np.array_equal(np.abs(rod.plastic_curvature[:, 0]), made)
    scene.step(1e-4)
    scene.restore(snapshot)
    assert np.array_equal(np.abs(rod.plastic_curvature[:, 0]), made)
    assert rod.section is BAR and rod.tables.branches.limit[-1, 0] < 0.3 * rod.tables.branches.limit[9, 0]


@pytest.mark.parametrize("model", ["spline", "discrete"])
@pytest.mark.parametrize("what", ["taper", "pieces", "strands"])
def test_snapshots_files_batches_and_cuts_go_on_with_what_has_flowed(what: str, model: str, tmp_path: Path) -> None:
    made_of: dict[str, Any] = {
        "taper": {"section": [BAR, sn.Section.rectangle(1e-3, 0.7e-3)], "material": ALUMINIUM},
        "pieces": {"pieces": [(0.043, BAR, ALUMINIUM), (None, BAR, SPRING)]},
        "strands": {"properties": sn.Properties(
            EA=1e5, EI=(0.004, 0.003), GJ=0.01, mass=0.02, radius=5e-4, EI_stuck=0.02, slip_moment=(0.03, 0.02)
        )},
    }[what]  # fmt: skip
    scene, rod, load = cantilever(0.1, 12, model=model, **made_of)
    load.force = (0.0, 0.0, -1.3 * YIELD / 0.1)
    for _ in range(40):
        scene.step(1e-3)
    load.force = (0.0, 0.0, 0.0)
    assert scene.dissipated > 0.0
    snapshot, lost, set_ = scene.snapshot(), scene.dissipated, rod.plastic_curvature
    scene.save(tmp_path / "wire.npz")
    other = sn.Scene.load(tmp_path / "wire.npz")
    batch = sn.Batch(scene, 2)
    for _ in range(10):
        batch.step(1e-3)
        scene.step(1e-3)
        other.step(1e-3)
    there = rod.control_points
    assert np.array_equal(other.bodies[0].control_points, there) and other.dissipated == scene.dissipated
    assert np.array_equal(batch.positions(rod.at(0.1))[1], rod.at(0.1).position)
    if what == "taper":  # what it is made of is still known there
        other.bodies[0].material = ALUMINIUM.varied(yield_stress=1e9)
        assert other.bodies[0].tables.branches.limit[5, 0] == pytest.approx(5.0 * rod.tables.branches.limit[5, 0])
        assert other.bodies[0].tables.branches.limit[-5, 0] == pytest.approx(5.0 * rod.tables.branches.limit[-5, 0])
    scene.restore(snapshot)
    assert scene.dissipated == lost and np.array_equal(rod.plastic_curvature, set_)
    for _ in range(10):
        scene.step(1e-3)
    assert np.array_equal(rod.control_points, there)
    now = rod.plastic_curvature
    limits = rod.tables.branches.limit.copy()
    first, second = rod.cut(0.05)
    if model == "spline":
        found = np.concatenate((first.plastic_curvature, second.plastic_curvature))
        assert np.array_equal(found, now)
        kept = np.concatenate((first.tables.branches.limit, second.tables.branches.limit))
        assert np.array_equal(kept, limits)
    assert scene.dissipated == pytest.approx(sum(r.tables.slips.lost.sum() for r in (first, second)))
    scene.step(1e-4)
    second.damping = 1e-4  # what the piece is made of is known, too
    assert np.array_equal(second.tables.branches.limit, limits[-len(second.tables.branches) :])
    scene.restore(snapshot)
    scene.reset()
    assert scene.dissipated == 0.0 and not rod.plastic_curvature.any()


def test_what_can_not_be_is_refused_by_name() -> None:
    gum = sn.Material(1e9, 0.4, 1200, prony=[(0.3, 0.1)])
    custom = sn.Section.custom(area=1e-6, I1=1e-13, I2=1e-13, J=1e-13, shear1=0.9, shear2=0.9)
    ends = (0, 0, 0), (1, 0, 0)
    with pytest.raises(sn.InputError, match=r"one yields, the next creeps by 1 terms of prony; give pieces="):
        sn.Rod.straight(*ends, section=BAR, material=[ALUMINIUM, gum])
    with pytest.raises(sn.InputError, match=r"at s = 0\.\d+ m: a material that yields needs a section with fibres"):
        sn.Rod.straight(*ends, pieces=[(0.5, BAR, ALUMINIUM), (None, custom, ALUMINIUM)])
    with pytest.raises(sn.InputError, match=r"EI_stuck=0\.\d+ with EI=0\.3\d* .* at s = "):
        sn.Rod.straight(*ends, properties=sn.Properties(
            EA=1e5, EI=lambda s: 0.2 + 0.2 * s, GJ=0.1, mass=0.1, radius=1e-3, EI_stuck=lambda s: 0.4 - 0.2 * s,
            slip_moment=0.1,
        ))  # fmt: skip
    rod = sn.Rod.straight(*ends, pieces=[(0.5, BAR, SPRING), (None, BAR, ALUMINIUM)])
    for material in (SPRING, gum, [SPRING, SPRING], sn.Material(E, 0.3, 2700, superelastic=(2e8, 1e8, 0.05))):
        with pytest.raises(sn.InputError, match="settled when a rod is made"):
            rod.material = material
    assert not rod.tables.branches.share[0].any() and rod.tables.branches.share[-10:].sum() > 0.0
