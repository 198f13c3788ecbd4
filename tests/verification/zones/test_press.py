"""Shapes pressed into soft bodies: balance, symmetry, history, and shapes that are the same in other words."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from sennit.bodies.zone.press_state import PressState
from sennit.bodies.zone.zone import Zone
from sennit.elastostatics.surface import Surface
from sennit.errors import InputError, SolveError
from sennit.geometry import Pose, rotation_exp
from sennit.geometry.shapes import Box, Mesh, Plane, Sphere
from sennit.material import Material
from tests.references.meshes import block, sphere

E = 5e4
SIZE = np.array((0.04, 0.04, 0.02))
TURN = Pose((0.3, -0.2, 0.1), (0.8, 0.3, -0.2, 0.4))


@cache
def pad(poisson_ratio: float = 0.4) -> Zone:
    """A pad, 40 mm wide and 20 mm thick, with its top at z = 0, held at its bottom."""
    vertices, faces = block(SIZE, (10, 10, 4), (-0.02, -0.02, -0.02))
    fixed = vertices[:, 2] < -0.0199
    return Zone.from_mesh(vertices, faces, material=Material(E, poisson_ratio, 1000.0), fixed=fixed)


@cache
def turned_pad() -> Zone:
    """The same pad elsewhere in space, with the same boundary stiffness."""
    zone, R = pad(), TURN.rotation
    n, g = len(zone.vertices), len(zone._boundary.tractions) // 3
    S = np.einsum("ab,ibjc,dc->iajd", R, zone._boundary.stiffness.reshape(n, 3, n, 3), R, optimize=True)
    Y = np.einsum("ab,ibjc,dc->iajd", R, zone._boundary.tractions.reshape(g, 3, n, 3), R, optimize=True)
    stiffness = replace(zone._boundary, stiffness=S.reshape(3 * n, -1), tractions=Y.reshape(3 * g, -1))
    surface = Surface(TURN @ zone.vertices, zone.faces)
    return Zone(surface, zone.fixed, zone.material, "bem", None, stiffness)


def ball(depth: float = 1e-3, radius: float = 0.02, x: float = 0.001, y: float = 0.0) -> Sphere:
    return Sphere((x, y, radius - depth), radius)


def check_balance(state: PressState) -> None:
    """Supports carry what the shape and the loads apply."""
    places, forces = state.zone.vertices, state.forces
    scale = np.abs(forces).sum()
    assert np.abs(forces.sum(axis=0)).max() < 1e-10 * scale
    assert np.abs(np.cross(places, forces).sum(axis=0)).max() < 1e-10 * scale * 0.04


def check_contact(state: PressState) -> None:
    """No free vertex in the shape, contacts on it, forces that push within the cone of friction."""
    zone, depth = state.zone, state._pressed.depth
    free = np.setdiff1d(np.arange(len(zone.vertices)), zone.fixed)
    distance = state.shape.signed_distance(state.positions)
    assert distance[free].min() > -1e-8 * depth
    assert np.abs(distance[state.patch]).max() < 1e-8 * depth
    pressed = np.einsum("ij,ij->i", state.contact_forces, state.contact_normals)
    tangential = np.linalg.norm(state.contact_forces - pressed[:, None] * state.contact_normals, axis=1)
    assert (pressed > 0.0).all()
    assert (tangential <= state.friction * pressed + 1e-8 * pressed.max()).all()
    assert state.report.converged and state.report.residual < 1e-8
    np.testing.assert_allclose(state.force, state.contact_forces.sum(axis=0), atol=1e-14)
    torque = np.cross(zone.vertices[state.patch], state.contact_forces).sum(axis=0)
    np.testing.assert_allclose(state.torque, torque, atol=1e-16)
    assert sorted([*state.sticking, *state.slipping]) == state.patch.tolist()


def icosphere(radius: float, centre) -> Mesh:
    return Mesh(*sphere(radius, 4), Pose(centre))


SHAPES = {
    "sphere": ball(),
    "plane": Plane((0.0, 0.0, -1e-3), (0.02, 0.01, -1.0)),
    "box": Box((0.013, 0.017, 0.02), Pose((0.001, 0.0, 0.009))),
    "edge": Box((0.02, 0.06, 0.02), Pose((0.0, 0.0, 0.02 / np.sqrt(2.0) - 1e-3), rotation_exp((0, np.pi / 4, 0)))),
    "mesh": icosphere(0.02, (0.001, 0.0, 0.019)),
}  # fmt: skip


@pytest.mark.parametrize("friction", [0.0, 0.3])
@pytest.mark.parametrize("name", SHAPES)
def test_conditions_and_balance(name: str, friction: float) -> None:
    state = pad().press(SHAPES[name], friction=friction)
    assert len(state.patch) >= 5
    check_contact(state)
    check_balance(state)
    assert state.force[2] < 0.0
    if friction == 0.0:
        assert not len(state.sticking)


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_plane_squeezes_a_block(friction: float) -> None:
    """The whole top goes down by the same; with much friction as if it were glued."""
    state = pad().press(Plane((0.0, 0.0, -1e-4), (0.0, 0.0, -1.0)), friction=friction)
    top = np.flatnonzero(pad().vertices[:, 2] > -1e-9)
    np.testing.assert_array_equal(state.patch, top)
    np.testing.assert_allclose(state.displacements[top, 2], -1e-4, rtol=1e-8)
    glued = pad().solve(displacements={int(v): (0.0, 0.0, -1e-4) for v in top})
    smooth = pad().solve(displacements={int(v): (None, None, -1e-4) for v in top})
    if friction == 0.0:
        np.testing.assert_allclose(state.displacements, smooth.displacements, atol=1e-12)
        np.testing.assert_allclose(state.force, smooth.force, atol=1e-9 * abs(smooth.force[2]))
    stuck = pad().press(state.shape, friction=30.0)
    np.testing.assert_allclose(stuck.displacements, glued.displacements, atol=1e-12)
    assert abs(smooth.force[2]) <= abs(state.force[2]) * (1 + 1e-9)
    assert state.contact_radius is None and state.peak_pressure is None
    assert state.area == pytest.approx(0.04**2, rel=1e-12)
    assert state.approach == pytest.approx(1e-4, rel=1e-12)


def test_pressures_are_of_the_right_size(validated) -> None:
    """Integrated over the top, they give the force; a plane on a block without friction is nearly uniform."""
    zone = pad(0.0)
    state = zone.press(Plane((0.0, 0.0, -1e-4), (0.0, 0.0, -1.0)))
    top = state.patch
    # ν = 0: uniform strain, exactly.
    np.testing.assert_allclose(state.pressures[top], E * 1e-4 / 0.02, rtol=1e-6)
    validated(
        "Plane that squeezes a block without Poisson's ratio",
        area="contact",
        quantity="force",
        reference="EAδ/h",
        error=abs(-state.force[2] / (E * 1e-4 / 0.02 * 0.04**2) - 1),
        bound=1e-9,
    )


def test_mesh_of_a_sphere_is_the_sphere(validated) -> None:
    """A faceted sphere of 2,562 vertices lies up to 1e-3 of its radius · angle² inside: half a percent of the depth."""
    for friction in (0.0, 0.3):
        smooth = pad().press(ball(2e-3), friction=friction)
        faceted = pad().press(icosphere(0.02, (0.001, 0.0, 0.018)), friction=friction)
        validated(
            "Sphere as a mesh, pressed",
            area="contact",
            quantity="force",
            reference="the analytic sphere",
            error=np.abs(faceted.force - smooth.force).max() / abs(smooth.force[2]),
            bound=0.02,
        )
        np.testing.assert_allclose(faceted.displacements, smooth.displacements, atol=6e-5)


def test_mesh_of_a_box_is_the_box() -> None:
    for name in ("box", "edge"):
        box = SHAPES[name]
        vertices, faces = block(box.size, (2, 2, 2), -0.5 * box.size)
        for friction in (0.0, 0.3):
            one, other = (
                pad().press(box, friction=friction),
                pad().press(Mesh(vertices, faces, box.pose), friction=friction),
            )
            np.testing.assert_allclose(other.displacements, one.displacements, atol=1e-10)
            np.testing.assert_allclose(other.force, one.force, atol=1e-6 * abs(one.force[2]))


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_turning_everything_turns_the_answer(friction: float) -> None:
    one = pad().press(ball(), friction=friction)
    dragged = pad().press(ball(x=0.0012), friction=friction, after=one)
    other = turned_pad().press(ball().moved(TURN), friction=friction)
    following = turned_pad().press(ball(x=0.0012).moved(TURN), friction=friction, after=other)
    for a, b in ((one, other), (dragged, following)):
        np.testing.assert_array_equal(a.patch, b.patch)
        np.testing.assert_allclose(a.displacements @ TURN.rotation.T, b.displacements, atol=1e-7 * 1e-3)
        force = TURN.rotation @ a.force
        np.testing.assert_allclose(b.force, force, atol=1e-6 * abs(a.force[2]))
        torque = TURN.rotation @ a.torque + np.cross(TURN.position, force)
        np.testing.assert_allclose(b.torque, torque, atol=1e-6 * abs(a.force[2]))


def test_deeper_is_harder_and_letting_go_is_free() -> None:
    state, last = None, 0.0
    for depth in np.linspace(2e-4, 3e-3, 8):
        state = pad().press(ball(depth), friction=0.3, after=state)
        check_contact(state)
        assert -state.force[2] > last
        last = -state.force[2]
    lifted = pad().press(ball(-1e-6), friction=0.3, after=state)
    assert not lifted.force.any() and not lifted.displacements.any() and not len(lifted.patch)
    assert lifted.contact_radius is None and lifted.approach == 0.0 and lifted.report.converged
    again = pad().press(ball(1e-3), friction=0.3, after=lifted)
    np.testing.assert_allclose(again.force, pad().press(ball(1e-3), friction=0.3).force, atol=1e-2 * last)


def test_path_without_friction_does_not_matter() -> None:
    state = None
    for depth in (1e-3, 2.5e-3, 2e-3):
        state = pad().press(ball(depth), after=state)
    fresh = pad().press(ball(2e-3))
    np.testing.assert_allclose(state.displacements, fresh.displacements, atol=1e-11)


def test_friction_holds() -> None:
    """Dragged a little, contacts stick and go with the shape; dragged far, all slip with μ times the force."""
    first = pad().press(ball(), friction=0.5)
    near = pad().press(ball(x=0.00101), friction=0.5, after=first)
    stuck = np.intersect1d(near.sticking, first.patch)
    assert len(stuck) > 5
    np.testing.assert_allclose(
        near.positions[stuck] - first.positions[stuck], np.tile((1e-5, 0, 0), (len(stuck), 1)), atol=1e-11
    )
    state = first
    for x in np.linspace(0.0012, 0.006, 25):
        state = pad().press(ball(x=x), friction=0.5, after=state)
        check_contact(state)
    check_balance(state)
    assert len(state.slipping) == len(state.patch)
    normal = np.einsum("ij,ij->", state.contact_forces, state.contact_normals)
    assert 0.45 * normal < state.force[0] < 0.56 * normal
    # Without friction nothing resists but the slope of the imprint.
    assert abs(pad().press(ball(x=0.006)).force[0]) < 0.1 * normal


def test_sticking_follows_a_turn() -> None:
    """A sphere that turns about the vertical axis takes sticking vertices round."""
    first = pad().press(ball(x=0.0), friction=20.0)
    angle = 1e-3
    spun = first.shape.moved(
        first.shape.pose @ Pose((0, 0, 0), (np.cos(angle / 2), 0, 0, np.sin(angle / 2))) @ first.shape.pose.inverse()
    )
    state = pad().press(spun, friction=20.0, after=first)
    stuck = np.intersect1d(state.sticking, first.patch)
    expected = first.positions[stuck] + np.cross((0, 0, angle), first.positions[stuck])
    np.testing.assert_allclose(state.positions[stuck], expected, atol=2e-9)
    assert state.torque[2] > 0.0


def test_small_sphere_pressed_deep() -> None:
    """Deflections as large as the sphere: normals follow the displaced places."""
    for friction in (0.0, 0.4):
        state = pad().press(Sphere((0.0, 0.0, 0.006 - 0.004), 0.006), friction=friction)
        check_contact(state)
        check_balance(state)


def loaded_vertex() -> int:
    """A corner of the top."""
    return int(np.flatnonzero(pad().vertices[:, 2] > -1e-9)[0])


def test_loads_besides() -> None:
    """Loads move the surface before the shape meets it, and both balance with the supports."""
    zone = pad()
    vertex = loaded_vertex()
    load = {vertex: (0.01, 0.0, -0.02)}
    state = zone.press(ball(), friction=0.3, loads=load)
    check_contact(state)
    check_balance(state)
    free = zone.press(ball(-0.01), loads=load)
    np.testing.assert_allclose(free.displacements, zone.solve(loads=load).displacements, atol=1e-15)
    assert not free.force.any()
    by_hand = zone.solve(loads={int(v): f for v, f in zip(state.patch, state.contact_forces, strict=True)} | {
        vertex: np.array(load[vertex]) + (state.contact_forces[state.patch == vertex].sum(axis=0))
    })  # fmt: skip
    np.testing.assert_allclose(state.displacements, by_hand.displacements, atol=1e-12)


def test_fixed_vertices_in_the_way() -> None:
    deep = Plane((0.0, 0.0, -0.021), (0.0, 0.0, -1.0))
    with pytest.raises(SolveError, match="fixed vertices"):
        pad().press(deep)
    state = pad().press(deep, throw=False)
    assert state.report.status == "failed"


def test_bad_input() -> None:
    zone = pad()
    with pytest.raises(InputError, match="shape must be one shape, as Sphere"):
        zone.press("ball")
    with pytest.raises(InputError, match="friction must be"):
        zone.press(ball(), friction=-0.1)
    with pytest.raises(InputError, match="after must be a state of this zone"):
        zone.press(ball(), after=turned_pad().press(ball()))
    with pytest.raises(InputError, match="after must be a state"):
        zone.press(ball(), after=1)
    with pytest.raises(InputError, match="loads"):
        zone.press(ball(), loads={5000: (0, 0, 1)})
    with pytest.raises(InputError, match="nothing holds the body"):
        zone.with_fixed([]).press(ball())


def test_goes_on_from_any_state_of_the_zone() -> None:
    """A state that is no press, or one of another shape, has no history of this contact."""
    fresh = pad().press(ball(), friction=0.3)
    for before in (pad().solve(loads={loaded_vertex(): (0, 0, 1e-3)}), pad().press(ball(radius=0.03), friction=0.3)):
        np.testing.assert_array_equal(
            pad().press(ball(), friction=0.3, after=before).displacements, fresh.displacements
        )
    assert "contacts" in repr(fresh)


def test_plot() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    figure = pad().press(ball(), friction=0.3).plot()
    assert figure.axes
    plt.close(figure)
