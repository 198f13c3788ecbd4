"""Concentric tubes: the curvature of an overlap, torsional snap, and a nest among everything else that a scene does."""

from __future__ import annotations

import copy
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from unit.scene.kit import bits, refused

import sennit as sn

NITINOL = sn.Material(youngs_modulus=58e9, poisson_ratio=0.33, density=6450, relaxation_time=1e-3)
OUTER, MIDDLE, INNER = (sn.Section.tube(outer, inner) for outer, inner in
                        ((1.2e-3, 0.95e-3), (0.9e-3, 0.7e-3), (0.6e-3, 0.4e-3)))  # fmt: skip


def tubes(*given: tuple[sn.Section, float, float], points: int = 40, starts: Any = 0.0) -> tuple[sn.Scene, sn.Nest]:
    """A nest of tubes, each of a section, a curvature (1/m) and a length (m)."""
    scene = sn.Scene(gravity=(0, 0, 0), drag=1.0)
    begin = np.broadcast_to(starts, (len(given),))
    made = [
        sn.Rod.straight(
            (0, 0, z), (0, 0, z + length), section=section, material=NITINOL, control_points=points,
            rest_curvature=(0, curvature),
        )
        for z, (section, curvature, length) in zip(begin, given, strict=True)
    ]  # fmt: skip
    return scene, scene.add(sn.Nest(made))


def middle_of(rod: sn.Rod, start: float, end: float) -> float:
    """Mean curvature between two rest lengths, 1/m."""
    s = np.linspace(0, rod.length, 301)
    return float(rod.curvatures(301)[(s > start) & (s < end), 1].mean())


def test_two_tubes_take_the_mean_of_their_curvatures(validated: Any) -> None:
    scene, nest = tubes((MIDDLE, 0.0, 0.20), (INNER, 8.0, 0.25), points=80)
    assert scene.settle().stable
    expected = INNER.I1 * 8.0 / (INNER.I1 + MIDDLE.I1)
    for rod in nest.tubes:
        validated(
            "Overlap of two concentric tubes", area="constraints", quantity="curvature", reference="ΣEIκ/ΣEI",
            error=abs(middle_of(rod, 0.02, 0.18) / expected - 1), bound=1e-3,
        )  # fmt: skip
    validated(
        "Inner tube beyond the outer one", area="constraints", quantity="curvature", reference="its own",
        error=abs(middle_of(nest.tubes[1], 0.22, 0.25) / 8.0 - 1), bound=1e-3,
    )  # fmt: skip


def test_three_tubes(validated: Any) -> None:
    given = (OUTER, 3.0, 0.10), (MIDDLE, 6.0, 0.15), (INNER, 15.0, 0.20)
    scene, nest = tubes(*given, points=60)
    assert scene.settle().stable
    stiffness = np.array([section.I1 for section, *_ in given])
    moments = stiffness * [curvature for _, curvature, _ in given]
    for k, (start, end) in enumerate(((0.015, 0.085), (0.115, 0.135))):
        validated(
            "Three concentric tubes", area="constraints", quantity="curvature where three, and two, overlap",
            reference="ΣEIκ/ΣEI",
            error=abs(middle_of(nest.tubes[2], start, end) / (moments[k:].sum() / stiffness[k:].sum()) - 1), bound=2e-3,
        )  # fmt: skip


def test_what_advances_sticks_out_and_what_turns_turns() -> None:
    scene, nest = tubes((MIDDLE, 0.0, 0.12), (INNER, 8.0, 0.18))
    tip = nest.tubes[1].at(0.18)
    scene.settle()
    before = tip.position
    nest.turn(1, math.pi / 2)
    scene.settle()
    # a straight tube around a curved one does not mind: the curved one turns as a whole
    assert tip.position == pytest.approx((-before[1], before[0], before[2]), abs=2e-6)
    assert nest.angles == pytest.approx((0, math.pi / 2), abs=1e-12)
    nest.advance(1, -0.03)
    scene.settle()
    assert nest.lengths == pytest.approx((0.12, 0.03))
    assert nest.starts == pytest.approx((0.0, -0.03))
    assert np.abs(nest.wrenches).max() > 1e-3
    assert len(nest.wrenches) == 2
    for _ in range(20):  # in time: 30 mm/s, half a turn a second
        nest.advance(1, 1.5e-4)
        nest.turn(1, 0.015)
        scene.step(5e-3)
    assert not scene.events
    assert nest.lengths[1] == pytest.approx(0.033)
    assert np.abs(nest.violation).max() < 1e-9


@pytest.mark.parametrize("part", [0.96, 1.04])
def test_torsional_snap(part: float, validated: Any) -> None:
    """Half a turn apart, equal tubes lie straight: stable below L √(κ1 κ2 (1 + ν)) = π/2, and not above."""
    length = 0.2
    curvature = part * math.pi / 2 / (length * math.sqrt(1 + NITINOL.poisson_ratio))
    thin = sn.Section.tube(0.75e-3, 0.6e-3)
    wide = sn.Section.custom(area=thin.area, I1=thin.I1, I2=thin.I2, J=thin.J, shear1=0.5, shear2=0.5)
    scene, nest = tubes((wide, curvature, length), (thin, -curvature, length + 1e-3))
    report = scene.settle()
    straight = abs(nest.tubes[0].at(length).position[0]) < 1e-3 * length
    validated(
        "Two equal tubes turned by half a turn", area="constraints",
        quantity="stable just below the threshold, unstable above", reference="Dupont, Rucker: L√(κ₁κ₂(1+ν)) = π/2",
        error=float((report.stable and straight) != (part < 1)), bound=0.5,
    )  # fmt: skip


def test_files_copies_and_snapshots_follow(tmp_path: Path) -> None:
    scene, nest = tubes((MIDDLE, 2.0, 0.10), (INNER, 8.0, 0.15), points=24, starts=(0.0, -0.01))
    scene.settle()
    nest.turn(1, 0.3)
    nest.advance(1, -0.005)
    scene.run(0.02, dt=5e-3)
    start = scene.snapshot()
    scene.save(tmp_path / "nest.npz")
    again, twin = sn.Scene.load(tmp_path / "nest.npz"), copy.deepcopy(scene)
    for each in (scene, again, twin):
        own = each.constraints[0]
        assert isinstance(own, sn.Nest)
        assert own.tubes == each.bodies[:2]
        own.turn(1, 0.2)
        own.advance(0, 0.002)
        each.run(0.02, dt=5e-3)
    assert bits(again) == bits(scene) == bits(twin)
    angle = nest.angles[1]
    scene.restore(start)
    assert nest.angles[1] == pytest.approx(angle - 0.2)
    batch = sn.Batch(scene, 2)
    batch.run(0.02, dt=5e-3)
    scene.run(0.02, dt=5e-3)
    assert np.array_equal(batch.positions(nest.tubes[1])[1], nest.tubes[1].control_points)


def test_it_is_switched_off_and_taken_out() -> None:
    scene, nest = tubes((MIDDLE, 0.0, 0.10), (INNER, 8.0, 0.15), points=20)
    scene.settle()
    bodies = len(scene.bodies)
    assert bodies == 2 + len(nest.holes)
    refused(lambda: scene.remove(nest.tubes[1]), "still used")
    nest.enabled = False
    scene.run(0.02, dt=5e-3)
    assert np.linalg.norm(nest.holes[-1].force) == 0.0
    nest.enabled = True
    scene.remove(nest)
    assert scene.bodies == nest.tubes
    assert scene.constraints == ()
    scene.run(0.02, dt=5e-3)
    assert scene.add(sn.Load(nest.tubes[0].at(0.1))) is not None


@pytest.mark.parametrize("dt", [1e-3, 0.05, 0.5])
@pytest.mark.parametrize("integrator", ["euler", "bdf2", "midpoint"])
def test_jerked_and_let_go(integrator: str, dt: float) -> None:
    scene = sn.Scene(integrator=integrator)
    made = [
        sn.Rod.straight((0, 0, 0), (length, 0, 0), section=section, material=NITINOL, control_points=16,
                        rest_curvature=(0, curvature))
        for section, curvature, length in ((MIDDLE, 3.0, 0.10), (INNER, 10.0, 0.15))
    ]  # fmt: skip
    nest = scene.add(sn.Nest(made))
    for k in range(12):
        if k == 3:
            nest.turn(1, 3.0)
        if k == 6:
            nest.advance(1, -0.03)
        if k == 8:
            nest.enabled = False
        scene.step(dt)
        assert np.isfinite(made[1].control_points).all()
    energy = scene.energy
    assert energy.kinetic < 10.0


def test_bad_input_changes_nothing() -> None:
    scene, nest = tubes((MIDDLE, 0.0, 0.10), (INNER, 8.0, 0.15), points=20)
    scene.step(1e-3)
    before = bits(scene)
    refused(lambda: nest.advance(2, 0.01), "2", "0 to 1")
    refused(lambda: nest.advance(1, math.nan), "length")
    refused(lambda: nest.advance(1, -0.06), "-0.06", "reach")
    refused(lambda: nest.advance(1, 0.01), "beyond the start")
    refused(lambda: nest.advance(0, 0.06), "0.06", "reach")
    refused(lambda: nest.turn(1, 3.2), "3.2", "half a turn")
    refused(lambda: nest.turn("1", 1.0), "i must be")
    assert bits(scene) == before
    rod = sn.Rod.straight((0, 0, 0), (0, 0, 0.2), section=INNER, material=NITINOL)
    wide = sn.Rod.straight((0, 0, 0), (0, 0, 0.1), section=MIDDLE, material=NITINOL)
    aside = sn.Rod.straight((0, 1e-3, 0), (0, 1e-3, 0.3), section=INNER, material=NITINOL)
    back = sn.Rod.straight((0, 0, 0.3), (0, 0, 0), section=INNER, material=NITINOL)
    solid = sn.Rod.straight((0, 0, 0), (0, 0, 0.1), section=sn.Section.circle(2e-3), material=NITINOL)
    chain = sn.Rod.straight((0, 0, 0), (0, 0, 0.1), section=MIDDLE, material=NITINOL, model="discrete")
    refused(lambda: sn.Nest([rod]), "two tubes")
    refused(lambda: sn.Nest([rod, rod]), "twice")
    refused(lambda: sn.Nest([rod, 3]), "3")
    refused(lambda: sn.Nest([rod, wide]), "fit")
    refused(lambda: sn.Nest([solid, rod]), "fit")
    refused(lambda: sn.Nest([wide, aside]), "0.001 m beside")
    refused(lambda: sn.Nest([wide, back]), "another way")
    refused(lambda: sn.Nest([chain, rod]), "discrete")
    for holes in (0, 100, [0.5, 0.4], [0.0, 0.5], [0.5, 1.1], "many", [[0.1]]):
        refused(lambda holes=holes: sn.Nest([wide, rod], holes=holes), "holes")
    other = sn.Scene()
    other.add(wide)
    refused(lambda: scene.add(sn.Nest([wide, rod])), "another scene")
    assert rod.scene is None
    assert bits(scene) == before


def test_a_process_that_has_made_none_knows_the_kind() -> None:
    program = (
        "import sennit.storage.scene_file; from sennit.constraints.constraint import AbstractConstraint as C; "
        "print('Nest' in C._kinds)"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "True"
