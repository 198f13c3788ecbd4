"""Stranded cables whose strands stick and slip: against closed forms, and with all that scenes do."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sennit as sn

LENGTH, EI, STUCK, SLIP = 0.3, 0.4, 6.0, 0.8
CORNER = SLIP / STUCK
GIVEN = {"EA": 2e5, "EI": EI, "GJ": 0.3, "mass": 0.15, "radius": 4e-3}
CABLE = sn.Properties(**GIVEN, EI_stuck=STUCK, slip_moment=SLIP)


def clamped(properties: sn.Properties = CABLE, points: int = 8, **options: Any) -> tuple[sn.Scene, sn.Rod]:
    """Clamped at its start."""
    model = options.pop("model", "spline")
    scene = sn.Scene(gravity=(0, 0, 0), **options)
    rod = sn.Rod.straight((0, 0, 0), (LENGTH, 0, 0), properties=properties, control_points=points, model=model)
    scene.add(rod)
    scene.add(sn.Clamp(rod.at(0)))
    return scene, rod


def curvature(rod: sn.Rod) -> float:
    """κ1, the same all along."""
    return float(rod.tables.bend.strain[len(rod.tables.bend_u) - len(rod.rest_strains()[0]) :, 0].mean())


def first_loading(moment: float) -> float:
    """κ under a moment, from nothing on."""
    return moment / STUCK if moment <= SLIP else CORNER + (moment - SLIP) / EI


def test_a_cable_bent_to_and_fro_goes_round_the_bilinear_loop(validated: Any) -> None:
    """Pure bending: κ(M) first, then by Masing's rule κ = ±(κ_m − 2 κ(|M ∓ M_m|/2)); loops take Iwan's area."""
    scene, rod = clamped()
    load, most = scene.add(sn.Load(rod.at(LENGTH))), 1.0
    worst, peak = 0.0, first_loading(most)

    def bend(moment: float, expected: float) -> None:
        nonlocal worst
        load.torque = (0.0, moment, 0.0)
        assert scene.settle().stable
        worst = max(worst, abs(curvature(rod) - expected))

    for moment in (0.4, 0.9, most):
        bend(moment, first_loading(moment))
    before = scene.dissipated
    for sign in (-1.0, 1.0):
        for moment in (0.3, -0.5, -0.7, -most):
            bend(-sign * moment, -sign * (peak - 2.0 * first_loading(0.5 * (most - moment))))
    # a cubic spline is of fourth order in the angle of a span, 5 of them here
    order = (peak * LENGTH / 5) ** 4
    validated(
        "Loop of a cable whose strands stick and slip, in pure bending", area="rods in scenes",
        quantity="curvature, of the largest", reference="bilinear law and Masing's rule", error=worst / peak,
        bound=order,
    )  # fmt: skip
    area = 4.0 * (STUCK - EI) * CORNER * (peak - CORNER) * LENGTH
    validated(
        "Heat of a cable whose strands stick and slip", area="rods in scenes", quantity="energy of a loop",
        reference="Iwan's area 4 (EI_stuck − EI) κ_s (κ_m − κ_s) L", error=abs((scene.dissipated - before) / area - 1),
        bound=2.0 * order,
    )  # fmt: skip
    load.torque = (0.0, 0.0, 0.0)
    scene.settle()
    assert rod.plastic_curvature[:, 0] == pytest.approx(curvature(rod), rel=1e-6)


def turning(peak: float) -> float:
    """κ at which a body that is nothing but inertia turns back, let go at `peak`: the moment has done no work then."""
    corner = 2.0 * CORNER
    moment = SLIP + EI * (peak - CORNER)
    work, left = moment * corner - 0.5 * STUCK * corner**2, moment - STUCK * corner
    return peak - corner - (left + math.sqrt(left**2 + 2.0 * EI * work)) / EI


@pytest.mark.parametrize("model", ["spline", "discrete"])
def test_a_swing_loses_what_the_loop_takes(validated: Any, model: str) -> None:
    """A flywheel on the end of a light cable, turned, held and let go."""
    light = sn.Properties(**GIVEN | {"mass": 1e-3}, EI_stuck=STUCK, slip_moment=SLIP)
    scene, rod = clamped(light, integrator="midpoint", model=model)
    mass, inertia = 1e-3, 0.01
    wheel = scene.add(sn.RigidBody.from_inertia(mass, (inertia,) * 3, position=(LENGTH, 0, 0)))
    scene.add(sn.Fuse(wheel.at(), rod.at(LENGTH)))
    load = scene.add(sn.Load(wheel.at(), torque=(0.0, 1.6, 0.0)))
    scene.settle()
    load.torque = (0.0, 0.0, 0.0)
    peak, first = curvature(rod), scene.energy.total + scene.dissipated
    seen = []
    for _ in range(300):
        scene.step(1e-3)
        seen.append(curvature(rod))
    # What moves sideways, with the angle times L/2 at most, is no inertia of the wheel.
    beside = (mass + 1e-3 * LENGTH) * (0.5 * LENGTH) ** 2 / inertia
    validated(
        "A swing of a cable whose strands stick and slip", area="rods in scenes",
        quantity="curvature where it turns back, of that at first", reference="work of the bilinear law",
        error=abs(min(seen) - turning(peak)) / peak, bound=beside,
    )  # fmt: skip
    assert scene.dissipated > 0.5 * first
    # as of a wire that is flung: Gauss's points do not see where on the way a branch begins to slip
    assert scene.energy.total + scene.dissipated == pytest.approx(first, rel=2e-4)


def test_snapshots_files_text_batches_and_cuts_go_on_with_what_has_slipped(tmp_path: Path) -> None:
    scene, rod = clamped(points=12, drag=5.0)
    scene.write(tmp_path / "cable.toml")
    load = scene.add(sn.Load(rod.at(LENGTH), force=(0.0, 0.0, -6.0)))
    scene.run(0.1, 1e-3)
    load.force = (0.0, 0.0, 0.0)
    snapshot, lost, slipped = scene.snapshot(), scene.dissipated, rod.plastic_curvature
    assert lost > 0.0 and np.abs(slipped).max() > 0.0
    scene.save(tmp_path / "cable.npz")
    other, batch = sn.Scene.load(tmp_path / "cable.npz"), sn.Batch(scene, 2)
    for _ in range(20):
        batch.step(1e-3)
    scene.run(0.02, 1e-3)
    other.run(0.02, 1e-3)
    there, again = rod.control_points, other.bodies[0]
    assert np.array_equal(again.control_points, there) and other.dissipated == scene.dissipated
    assert np.array_equal(batch.positions(rod.at(LENGTH))[1], rod.at(LENGTH).position)
    again.damping = 1e-3  # which takes the rest of its numbers from the file
    assert np.array_equal(again.tables.branches.limit, rod.tables.branches.limit)
    scene.restore(snapshot)
    assert scene.dissipated == lost and np.array_equal(rod.plastic_curvature, slipped)
    scene.run(0.02, 1e-3)
    assert np.array_equal(rod.control_points, there)
    now = rod.plastic_curvature
    first, second = rod.cut(0.15)
    assert np.array_equal(np.concatenate((first.plastic_curvature, second.plastic_curvature)), now)
    second.properties = sn.Properties(**GIVEN, EI_stuck=STUCK, slip_moment=2.0 * SLIP)
    assert second.tables.branches.limit[0, 0] == pytest.approx(2.0 * CORNER, rel=1e-15)
    assert first.tables.branches.limit[0, 0] == pytest.approx(CORNER, rel=1e-15)
    read = sn.Scene.read(tmp_path / "cable.toml").bodies[0]
    assert np.array_equal(read.properties, rod.properties) and read.tables.branches.share[0, 0] == 1.0 - EI / STUCK
    rod.anneal()
    assert not rod.plastic_curvature.any()


def test_what_else_is_given_may_vary_along_a_cable_that_slips() -> None:
    scene, rod = clamped(sn.Properties(**GIVEN | {"mass": [0.3, 0.1]}, EI_stuck=STUCK, slip_moment=SLIP))
    scene.add(sn.Load(rod.at(LENGTH), torque=(0.0, 1.0, 0.0)))
    scene.settle()
    assert curvature(rod) == pytest.approx(first_loading(1.0), rel=1e-5)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"EI_stuck": STUCK}, "EI_stuck=6.0 needs slip_moment"),
        ({"slip_moment": SLIP}, "slip_moment=0.8 needs EI_stuck"),
        ({"EI_stuck": 0.3, "slip_moment": SLIP}, "EI_stuck must be above EI.* got EI_stuck=0.3 with EI=0.4"),
        ({"EI_stuck": EI, "slip_moment": SLIP}, "EI_stuck must be above EI"),
        ({"EI_stuck": -STUCK, "slip_moment": SLIP}, "EI_stuck must be .* got -6"),
        ({"EI_stuck": math.nan, "slip_moment": SLIP}, "EI_stuck must be .* got nan"),
        ({"EI_stuck": STUCK, "slip_moment": -SLIP}, "slip_moment must be .* got -0.8"),
        ({"EI_stuck": STUCK, "slip_moment": math.nan}, "slip_moment must be .* got nan"),
        ({"EI_stuck": STUCK, "slip_moment": "0.8"}, "slip_moment must be .* got '0.8'"),
        ({"EI_stuck": STUCK, "slip_moment": [0.8, -0.4]}, r"slip_moment\[1\] must be .* got -0.4"),
        ({"EI2": 0.3, "EI_stuck": STUCK, "slip_moment": SLIP}, "as stiff about d1 as about d2: leave out EI2"),
    ],
)  # fmt: skip
def test_strands_that_none_have_are_refused(given: dict[str, Any], text: str) -> None:
    with pytest.raises(sn.InputError, match=text):
        sn.Properties(**GIVEN | given)


def test_whether_strands_stick_is_settled_when_a_rod_is_made() -> None:
    for made, other in ((CABLE, sn.Properties(**GIVEN)), (sn.Properties(**GIVEN), CABLE)):
        _, rod = clamped(made)
        known = rod.properties, rod.tables.bends.stiffness.copy(), rod.tables.branches.limit.copy()
        with pytest.raises(sn.InputError, match="settled when a rod is made"):
            rod.properties = other
        now = rod.properties, rod.tables.bends.stiffness, rod.tables.branches.limit
        assert all(np.array_equal(a, b) for a, b in zip(known, now, strict=True))
