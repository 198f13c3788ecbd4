"""Rods whose radius varies touch where they are as thick as they are there."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import sennit as sn

STEEL = sn.Material(2e11, 0.3, 7850)
ALONG_Y = (math.sqrt(0.5), -math.sqrt(0.5), 0, 0)
MODELS = pytest.mark.parametrize("model", ["spline", "discrete"])


def cone(thick: float, thin: float, length: float) -> Any:
    return lambda s: sn.Section.circle(thick + (thin - thick) * s / length)


@MODELS
def test_a_cone_lies_on_a_plane_at_its_angle(validated: Any, model: Any) -> None:
    """sin α = −r′: each section is as high as it is thick. A rod as thick as its thick end would lie level."""
    length, thick, thin = 0.2, 10e-3, 4e-3
    scene = sn.Scene()
    scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1))))
    rod = scene.add(
        sn.Rod.straight((0, 0, 0.0105), (length, 0, 0.0105), section=cone(thick, thin, length), material=STEEL,
                        control_points=8, model=model)
    )  # fmt: skip
    scene.collide(friction=0.0)
    assert scene.settle().stable
    line = rod.centerline(50)
    height = thick + (thin - thick) * np.linspace(0.0, 1.0, 50)
    validated(
        "A cone on a plane", area="contact", quantity="height of its axis, of its thick end's radius",
        reference="envelope of its spheres", error=float(np.abs(line[:, 2] - height).max() / thick), bound=2e-6,
    )  # fmt: skip
    tilt = (line[-1] - line[0]) / np.linalg.norm(line[-1] - line[0])
    assert -tilt[2] == pytest.approx((thick - thin) / length, rel=1e-4)


def gap_between(a: sn.Rod, b: sn.Rod, radii: Any) -> float:
    """The least |x − y| − r_a − r_b of two rods, by a search over both."""

    def gap(places: Any) -> float:
        s, w = (float(np.clip(p, 0.0, r.length)) for p, r in zip(places, (a, b), strict=True))
        return float(np.linalg.norm(a.at(s).position - b.at(w).position)) - radii(s) - radii(w)

    start = min(
        ((s, w) for s in np.linspace(0, a.length, 15) for w in np.linspace(0, b.length, 15)), key=lambda p: gap(p)
    )
    found = minimize(gap, start, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-14, "maxiter": 400})
    return float(found.fun)


@MODELS
def test_tapers_that_cross_touch_at_the_sum_of_their_radii_there(validated: Any, model: Any) -> None:
    """One lies across two that are held: by places of the least gap, and nowhere else."""
    length, thick, thin = 0.1, 3e-3, 1e-3
    made_of: dict[str, Any] = {"section": cone(thick, thin, length), "material": STEEL, "control_points": 10}
    scene = sn.Scene()
    rails = [
        scene.add(sn.Rod.straight((x, -0.03, 0), (x, 0.07, 0), **made_of, model=model)) for x in (0.021, 0.083)
    ]  # fmt: skip
    for rail in rails:
        scene.add(sn.Clamp(rail.at(0)))
        scene.add(sn.Clamp(rail.at(length)))
    rod = scene.add(sn.Rod.straight((0, 0, 6e-3), (length, 0, 6e-3), **made_of, model=model))
    scene.add(sn.OnPlane(rod.at(0.05), (0, 1, 0)))
    scene.add(sn.OnPlane(rod.at(0.05), (1, 0, 0)))
    scene.add(sn.OnPlane(rod.at(0.0), (0, 1, 0)))
    scene.collide(friction=0.0)
    assert scene.settle().converged
    gaps = [abs(gap_between(rod, rail, lambda s: thick + (thin - thick) * s / length)) for rail in rails]
    # one step of Newton's to the least gap, r′ = 0.02: the rest is of the order of r′⁴ r, and that of a step's overlap
    validated(
        "Tapers that cross", area="contact", quantity="least gap, of the thin end's radius",
        reference="a search over both centre lines", error=max(gaps) / thin, bound=1e-5,
    )  # fmt: skip


def test_a_taper_on_a_peg_is_pushed_back_as_a_wedge(validated: Any) -> None:
    """Where a peg touches it, the normal is that of the cone: the force along the rod is r′ of the whole, to the thick
    end. A stiff rod, clamped at its thick end and pressed down.
    """
    length, thick, thin = 0.1, 6e-3, 2e-3
    scene = sn.Scene()
    rod = scene.add(
        sn.Rod.straight((0, 0, 0), (length, 0, 0), section=cone(thick, thin, length), material=STEEL, control_points=12)
    )
    scene.add(sn.Clamp(rod.at(0)))
    scene.add(sn.Load(rod.at(length), force=(0, 0, -50.0)))
    at = 0.0531
    radius = thick + (thin - thick) * at / length
    peg = scene.add(sn.Obstacle(sn.Cylinder(5e-3, 1.0, sn.Pose((at, 0, -radius - 5e-3 - 1e-7), ALONG_Y))))
    scene.collide(friction=0.0)
    scene.settle()
    force = sum(contact.force for contact in scene.contacts)
    u = rod._u_at([at])
    tangent = rod.tables.model.frames(rod.tables, rod._nodal("q"), u)[0][:, 2]
    slope = (thick - thin) / length
    assert scene.contacts.between(rod, peg)
    validated(
        "A peg under a taper", area="contact", quantity="force along the rod over all of it, against r′",
        reference="normal of the envelope of its spheres", bound=2e-2,
        error=abs(abs(float(tangent @ force)) / float(np.linalg.norm(force)) / slope - 1.0),
    )  # fmt: skip
    assert float(tangent @ force) < 0.0  # towards the thick end


def bore(scene: sn.Scene, kind: str, length: float, radius: float) -> Any:
    if kind == "world":
        return sn.Cylinder(radius, 1.4 * length, sn.Pose((0.5 * length, 0, 0), (math.sqrt(0.5), 0, math.sqrt(0.5), 0)))
    sheath = scene.add(
        sn.Rod.straight((-0.2 * length, 0, 0), (1.2 * length, 0, 0), material=STEEL.varied(youngs_modulus=2e15),
                        section=sn.Section.tube(2.0 * radius, radius), control_points=10)
    )  # fmt: skip
    for k in range(3):
        scene.add(sn.Clamp(sheath.at(0.5 * k * sheath.length)))
    return sheath


@pytest.mark.parametrize("kind", ["world", "rod"])
def test_a_tapered_wire_lies_in_its_tube_by_the_clearance_of_its_place(validated: Any, kind: str) -> None:
    length, thick, thin, hole = 0.1, 0.4e-3, 0.15e-3, 0.5e-3
    scene = sn.Scene()
    tube = bore(scene, kind, length, hole)
    wire = scene.add(
        sn.Rod.straight((0, 0, 0), (length, 0, 0), section=cone(thick, thin, length), control_points=15,
                        material=sn.Material(5e9, 0.3, 7850))
    )  # fmt: skip
    scene.add(sn.Inside(wire, tube))
    scene.add(sn.OnPlane(wire.at(0.5 * length), (1, 0, 0)))
    scene.collide(friction=0.0)
    for _ in range(400):
        scene.step(2e-3)
    s = wire.knots
    z = np.array([wire.at(x).position[2] for x in s])
    radii = thick + (thin - thick) * s / length
    validated(
        "A tapered wire on the wall of its tube", area="contact", reference="clearance of its place",
        quantity="height of its knots, of the bore", error=float(np.abs(z + hole - radii).max() / hole), bound=1e-5,
    )  # fmt: skip


@MODELS
def test_a_rod_of_two_thicknesses_sags_to_each_on_the_ground(model: Any) -> None:
    """Away from where it jumps the axis is as high as each piece is thick."""
    soft = sn.Material(1e6, 0.4, 1200)
    scene = sn.Scene()
    scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1))))
    pieces = [(0.5, sn.Section.circle(5e-3), soft), (None, sn.Section.circle(3e-3), soft)]
    rod = scene.add(sn.Rod.straight((0, 0, 6e-3), (1, 0, 6e-3), pieces=pieces, control_points=40, model=model))
    scene.collide(friction=0.0)
    assert scene.settle().converged
    for s, height in ((0.1, 5e-3), (0.3, 5e-3), (0.75, 3e-3), (0.95, 3e-3)):
        assert rod.at(s).position[2] == pytest.approx(height, rel=1e-3)


def test_a_tapered_rope_lies_on_a_peg_as_thick_as_it_is(tmp_path: Path) -> None:
    """Hung over a peg with a weight at each end: the axis is R + r(s) from that of the peg. Files, snapshots, cuts."""
    R, length, thick, thin = 0.05, 0.6, 4e-3, 2e-3
    rope = sn.Material(2e7, 0.4, 1100)
    scene = sn.Scene(drag=5.0)
    arc = [(R * 1.2 * math.sin(a), 0, R * 1.2 * math.cos(a)) for a in np.linspace(-1.5, 1.5, 9)]
    ends = 0.5 * (length - 2.4 * R * 1.5)
    down = [(x, 0, arc[0][2] - z) for x, z in ((-1.2 * R, ends), (-1.2 * R, 0.5 * ends))]
    up = [(-x, y, z) for x, y, z in reversed(down)]
    rod = scene.add(
        sn.Rod.through([*down, *arc, *up], section=[sn.Section.circle(thick), sn.Section.circle(thin)],
                       material=rope, control_points=45, straight=True)
    )  # fmt: skip
    for s in (0.0, rod.length):
        scene.add(sn.Load(rod.at(s), force=(0, 0, -1.0)))
    scene.add(sn.Obstacle(sn.Cylinder(R, 1.0, sn.Pose((0, 0, 0), ALONG_Y)), name="peg"))
    scene.collide(friction=0.5)
    for _ in range(400):
        scene.step(2e-3)
    at = np.array([s for s in rod.knots if abs(rod.at(s).position[0]) < 0.7 * R and rod.at(s).position[2] > 0.0])
    assert len(at) > 3
    for s in at:
        x = rod.at(s).position
        radius = thick + (thin - thick) * s / rod.length
        assert math.hypot(x[0], x[2]) - R - radius == pytest.approx(0.0, abs=0.02 * radius)
    snapshot = scene.snapshot()
    scene.save(tmp_path / "rope.npz")
    other = sn.Scene.load(tmp_path / "rope.npz")
    for _ in range(5):
        scene.step(2e-3)
        other.step(2e-3)
    there = rod.control_points
    assert np.array_equal(other.bodies[0].control_points, there)
    scene.restore(snapshot)
    for _ in range(5):
        scene.step(2e-3)
    assert np.array_equal(rod.control_points, there)
    first, second = rod.cut(0.7 * rod.length)
    assert first.radius == pytest.approx(thick) and second.radius == pytest.approx(
        thick + 0.7 * (thin - thick), rel=1e-2
    )
    for s in at[at < first.length - 0.01]:
        assert first._radius_at(s) == pytest.approx(thick + (thin - thick) * s / rod_length(first, second), rel=1e-9)
    scene.step(2e-3)


def rod_length(*pieces: sn.Rod) -> float:
    return sum(piece.length for piece in pieces)


def test_radii_of_spans_are_those_of_their_ends() -> None:
    """Linear to rounding, smooth to second order in a span; pieces jump at knots and pass over within a span."""
    for model in ("spline", "discrete"):
        rod = sn.Rod.straight((0, 0, 0), (1, 0, 0), section=cone(6e-3, 2e-3, 1.0), material=STEEL, model=model)
        share = 1.0 - rod.tables.girths.thinner
        s = rod.knots
        assert share[:, 0] * 6e-3 == pytest.approx(6e-3 - 4e-3 * s[:-1], rel=1e-12)
        assert share[:, 1] * 6e-3 == pytest.approx(6e-3 - 4e-3 * s[1:], rel=1e-12)
        rod.section = sn.Section.circle(1e-3)
        assert not rod.tables.girths.thinner.any() and rod.radius == 1e-3
    thick, thin = sn.Section.circle(2e-3), sn.Section.circle(1e-3)
    for where, jumps_at_knot in ((0.5, True), (0.53, False)):
        rod = sn.Rod.straight((0, 0, 0), (1, 0, 0), pieces=[(where, thick, STEEL), (None, thin, STEEL)],
                              control_points=23)  # fmt: skip
        radius, span = 2e-3 * (1.0 - rod.tables.girths.thinner), int(where * 20)
        assert radius[:span] == pytest.approx(2e-3) and radius[span + 1 :] == pytest.approx(1e-3)
        assert radius[span] == pytest.approx((1e-3, 1e-3) if jumps_at_knot else (2e-3, 1e-3))


def test_a_pearl_that_is_wider_than_the_thin_end_of_its_rod_touches() -> None:
    """A heavy one at the thin end of a limp taper, whose thick end is wider than it, lies on the floor."""
    scene = sn.Scene(drag=5.0)
    rod = scene.add(
        sn.Rod.straight((0, 0, 0.02), (0.3, 0, 0.02), section=cone(6e-3, 1e-3, 0.3), control_points=20,
                        material=sn.Material(1e7, 0.4, 1100, relaxation_time=0.01))
    )  # fmt: skip
    scene.add(sn.Clamp(rod.at(0)))
    pearl = scene.add(sn.Pearl(rod, at=0.27, mass=0.05, radius=3e-3, friction=10.0))
    thin = scene.add(sn.Pearl(rod, at=0.1, mass=1e-4, radius=0.9e-3, friction=10.0))
    scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1)), name="floor"))
    scene.collide()
    assert len(pearl.shapes) == 1 and not thin.shapes
    for _ in range(500):
        scene.step(2e-3)
    assert pearl.at().position[2] == pytest.approx(3e-3, rel=1e-3)
