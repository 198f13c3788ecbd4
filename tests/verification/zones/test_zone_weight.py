"""Weight of zones: a hanging bar in closed form, what the support bears, and bodies that are turned."""

from __future__ import annotations

import numpy as np
import pytest
from references.meshes import block
from references.rotation import exp

import sennit as sn

E, NU, RHO = 5e4, 0.3, 1000.0
GEL = sn.Material(E, NU, RHO)
SIZE = np.array((0.03, 0.03, 0.09))
G = 9.81
TURN = exp(np.array((0.4, -0.7, 0.3)))


def hanging(cells: int = 4) -> sn.Zone:
    """A bar that hangs by its top."""
    vertices, faces = block(SIZE, (cells, cells, 3 * cells), (-0.015, -0.015, 0.0))
    return sn.Zone.from_mesh(vertices, faces, material=GEL, fixed=vertices[:, 2] > SIZE[2] - 1e-9)


@pytest.fixture(scope="module")
def bar() -> sn.Zone:
    return hanging()


def of_its_own_weight(zone: sn.Zone) -> np.ndarray:
    """Uniaxial tension by what hangs below: σ = ρ g z along the bar, and nothing across it."""
    x, y, z = zone.vertices.T
    long = (z * z - SIZE[2] ** 2) / 2 + NU * (x * x + y * y) / 2
    return RHO * G / E * np.stack((-NU * x * z, -NU * y * z, long), axis=1)


def test_a_bar_under_its_own_weight(bar, validated) -> None:
    """The top is held where the exact solution has it; the rest of it follows."""
    exact = of_its_own_weight(bar)
    state = bar.solve(displacements={int(v): exact[v] for v in bar.fixed}, gravity=(0, 0, -G))
    error = state.displacements - exact
    bottom = np.abs(bar.vertices[:, 2]) < 1e-9
    sag = RHO * G * SIZE[2] ** 2 / (2 * E)
    validated(
        "Bar that hangs by its top",
        area="zones",
        quantity="sag of its end, in the mean",
        reference="ρgL²/2E",
        error=abs(error[bottom, 2].mean()) / sag,
        bound=5e-3,
    )
    assert np.sqrt((error**2).sum(axis=1).mean()) < 0.01 * sag
    assert np.abs(error).max() < 0.03 * sag
    # tractions: none on the sides in the mean, on the top the whole weight
    tractions = np.einsum("fci,f->i", state.corner_tractions, bar._surface.areas) / 3.0
    assert tractions == pytest.approx((0, 0, bar.mass * G), abs=0.01 * bar.mass * G)
    energy = (RHO * G) ** 2 * SIZE[0] * SIZE[1] * SIZE[2] ** 3 / (6 * E)
    assert state.energy == pytest.approx(energy, rel=0.02)


def test_what_the_support_bears(bar) -> None:
    """Force and moment of the weight at the centre of the body, to rounding, however it is turned."""
    assert bar.mass == pytest.approx(RHO * SIZE.prod(), rel=1e-12)
    assert bar.centre == pytest.approx((0, 0, SIZE[2] / 2), abs=1e-12)
    gravity = G * TURN[0]
    state = bar.solve(gravity=gravity)
    assert state.force == pytest.approx(bar.mass * gravity, abs=1e-9 * bar.mass * G)
    assert state.torque == pytest.approx(np.cross(bar.centre, bar.mass * gravity), abs=1e-9 * bar.mass * G * SIZE[2])
    assert state.forces.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-9 * bar.mass * G)
    assert np.cross(bar.vertices, state.forces).sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-9 * bar.mass * G)


def test_weight_does_not_know_where_or_how_a_body_is_modelled(bar) -> None:
    moved = sn.Zone.from_mesh(bar.vertices @ TURN.T + (0.3, -0.2, 0.1), bar.faces, material=GEL, fixed=bar.fixed)
    here, there = bar.solve(gravity=(1.0, 2.0, -G)), moved.solve(gravity=TURN @ (1.0, 2.0, -G))
    size = np.abs(here.displacements).max()
    assert there.displacements == pytest.approx(here.displacements @ TURN.T, abs=1e-7 * size)
    assert there.energy == pytest.approx(here.energy, rel=1e-7)


def test_a_body_that_floats_in_pressure_is_only_pressed(bar) -> None:
    """Weight and the pressure of a liquid as dense as the body, which nothing holds: σ = −p everywhere."""
    loose = bar.with_fixed(())
    surface, x = loose._surface, loose.vertices - loose.centre
    pressure = -RHO * G * x[:, 2]  # grows downwards
    corners = pressure[surface.faces]
    shares = (corners.sum(axis=1, keepdims=True) + corners) * (surface.areas / 12.0)[:, None]
    loads = np.zeros_like(x)
    for corner in range(3):
        np.add.at(loads, surface.faces[:, corner], -shares[:, corner, None] * surface.normals)
    state = loose.solve(loads=loads, gravity=(0, 0, -G), rigid_modes="removed")
    # an even pressure gradient: dilation (1 − 2ν) p/E at each place, no shear
    down = np.array((0.0, 0.0, -RHO * G))
    exact = -(1 - 2 * NU) / E * ((x @ down)[:, None] * x - 0.5 * (x * x).sum(axis=1)[:, None] * down)
    turns = np.cross(np.eye(3)[:, None], x[None]).reshape(3, -1).T
    rigid = np.hstack((np.tile(np.eye(3), (len(x), 1)), turns))
    left = (state.displacements - exact).ravel()
    left -= rigid @ np.linalg.lstsq(rigid, left, rcond=None)[0]
    assert np.abs(left).max() < 1e-9 * np.abs(exact).max()
    with pytest.raises(sn.InputError, match="balance"):
        loose.solve(gravity=(0, 0, -G), rigid_modes="removed")


def test_weight_is_reciprocal_to_loads(bar) -> None:
    """Betti: what a load does under the weight is what the weight does under the load."""
    force, at = np.array((0.02, -0.01, 0.03)), 7
    heavy, pushed = bar.solve(gravity=(0, 3.0, -G)), bar.solve(loads={at: force})
    mean = bar._weight_of(RHO * np.array((0, 3.0, -G)))
    assert force @ heavy.displacements[at] == pytest.approx((mean * pushed.displacements).sum(), rel=1e-9)


def test_the_mean_displacement_inside(bar, validated) -> None:
    """∫u dV of the hanging bar: a third of ρgL²/E over its volume, and what it narrows."""
    exact = of_its_own_weight(bar)
    state = bar.solve(displacements={int(v): exact[v] for v in bar.fixed}, gravity=(0, 0, -G))
    pull = np.array((0.0, 0.0, -RHO * G))
    weight = bar._weight
    # of a moved support what its tractions do is in it, too: the support's vertices are among the surface's
    moment = weight.forces.T @ state.displacements.ravel() + weight.inner @ pull / E
    narrowing = NU * (SIZE[0] ** 2 + SIZE[1] ** 2) / 24
    mean = RHO * G / E * (-(SIZE[2] ** 2) / 3 + narrowing)
    validated(
        "Bar that hangs by its top",
        area="zones",
        quantity="sag of its centre of mass",
        reference="ρgL²/3E, and what it narrows",
        error=abs(moment[2] / bar.volume / mean - 1),
        bound=5e-3,
    )
    assert np.linalg.eigvalsh(weight.inner).min() > 0.0


def test_a_chain_bears_the_weight_of_its_zones(bar) -> None:
    """Bent: every zone has its weight in its own frame, and what the bones bear is all of it."""
    side = np.abs(bar.vertices[:, 0] + 0.015) < 1e-9
    bone = bar.with_fixed(side & (np.abs(bar.vertices[:, 2] - 0.045) < 0.02))
    ends = [np.flatnonzero(np.abs(bar.vertices[:, 2] - end) < 1e-9) for end in (SIZE[2], 0.0)]
    ends = [ids[np.lexsort((bar.vertices[ids, 0].round(9), bar.vertices[ids, 1].round(9)))] for ids in ends]
    chain = sn.ZoneChain([bone, bone], [tuple(ends)], rest_poses=[sn.Pose(), sn.Pose((0, 0, SIZE[2]))])
    poses = [sn.Pose.from_rotation((0, 0, 0), TURN), sn.Pose.from_rotation(TURN @ (0, 0, SIZE[2]), TURN @ TURN)]
    gravity = np.array((1.0, 0.0, -G))
    state = chain.solve(poses, gravity=gravity, method="direct")
    total = sum(pose.rotation @ zone.force for pose, zone in zip(poses, state.zones, strict=True))
    assert total == pytest.approx(2 * bar.mass * gravity, rel=1e-8)
    loads = {z: bone._weight_of(RHO * pose.rotation.T @ gravity) for z, pose in enumerate(poses)}
    for load in loads.values():
        load[bone.fixed] = 0.0
    same = chain.solve(poses, loads=loads, method="direct")
    for one, other in zip(state.displacements, same.displacements, strict=True):
        assert one == pytest.approx(other, abs=1e-12)
