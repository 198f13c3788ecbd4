"""Every mistake gets an InputError that names the argument, quotes the value and says what to do; nothing changes."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from references.meshes import block
from references.solids import tetrahedra_of_block

import sennit as sn

GEL = sn.Material(5e4, 0.45, 1000)
VERTICES, FACES = block((0.04, 0.04, 0.02), (4, 4, 2))
BOTTOM = np.flatnonzero(VERTICES[:, 2] < 1e-9)
TOP = np.flatnonzero(VERTICES[:, 2] > 0.02 - 1e-9)
V, W = int(TOP[5]), int(TOP[9])
FIXED = int(BOTTOM[3])
COUNT = len(VERTICES)


@pytest.fixture(scope="module")
def pad() -> sn.Zone:
    return sn.Zone.from_mesh(VERTICES, FACES, material=GEL, fixed=BOTTOM, name="pad")


@pytest.fixture(scope="module")
def loose(pad: sn.Zone) -> sn.Zone:
    return pad.with_fixed([])


def refused(words: list[str], call, *arguments, **options) -> None:
    with pytest.raises(sn.InputError) as caught:
        call(*arguments, **options)
    for word in words:
        assert word in str(caught.value), str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"material": 5e4}, ["material", "sennit.Material", "50000.0"]),
        ({"material": sn.Material(5e4, 0.5, 1000)}, ["Poisson", "0.5", "0.49"]),
        ({"material": sn.Material(5e4, 0.3, 1000, shear_modulus=1e4)}, ["isotropic", "10000", "shear_modulus"]),
        ({"fixed": [0, COUNT]}, ["fixed", str(COUNT), f"0 to {COUNT - 1}"]),
        ({"fixed": [-1]}, ["fixed", "-1"]),
        ({"fixed": [0.5]}, ["fixed", "0.5"]),
        ({"fixed": "bottom"}, ["fixed", "bottom"]),
        ({"fixed": [[1, 2]]}, ["fixed", "[[1, 2]]"]),
        ({"fixed": np.ones(5, dtype=bool)}, ["fixed", "mask", "5", str(COUNT)]),
        ({"fixed": np.ones(COUNT, dtype=bool)}, ["fixed", "free", str(COUNT)]),
        ({"method": "fdm"}, ["method", "'fdm'", "bem", "fem"]),
        ({"name": ""}, ["name", "''"]),
        ({"faces": FACES[1:]}, ["faces", "open edge"]),
        ({"faces": FACES[:, ::-1]}, ["faces", "inside out"]),
        ({"faces": None}, ["faces"]),
        ({"vertices": np.zeros((3, 2))}, ["vertices", "(3, 2)"]),
    ],
)
def test_making_a_zone(arguments: dict, words: list[str]) -> None:
    given = {"vertices": VERTICES, "faces": FACES, "material": GEL, "fixed": BOTTOM, **arguments}
    refused(words, sn.Zone.from_mesh, **given)


def test_walls_too_thin_for_their_mesh_say_where_and_what_to_do() -> None:
    vertices, faces = block((1.0, 1.0, 0.03), (5, 5, 1))
    refused(["thin", "fem"], sn.Zone.from_mesh, vertices, faces, material=GEL, fixed=vertices[:, 0] < 1e-9)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"displacements": {COUNT: (0, 0, 0)}}, ["displacements", str(COUNT)]),
        ({"displacements": {-1: (0, 0, 0)}}, ["displacements", "-1"]),
        ({"displacements": {1.5: (0, 0, 0)}}, ["displacements", "1.5"]),
        ({"displacements": {V: (0, 0)}}, [f"displacements[{V}]", "(0, 0)"]),
        ({"displacements": {V: 1.0}}, [f"displacements[{V}]", "1.0"]),
        ({"displacements": {V: (None, None, None)}}, [f"displacements[{V}]", "component"]),
        ({"displacements": {V: (0, 0, np.inf)}}, [f"displacements[{V}]", "inf"]),
        ({"displacements": {V: (0, 0, "up")}}, [f"displacements[{V}]", "up"]),
        ({"displacements": np.zeros((4, 3))}, ["displacements", f"({COUNT}, 3)"]),
        ({"displacements": [[np.inf] * 3] * COUNT}, ["displacements", "finite"]),
        ({"displacements": [["a"] * 3] * COUNT}, ["displacements", "real numbers"]),
        ({"loads": {V: (0, 0, np.nan)}}, [f"loads[{V}]", "nan"]),
        ({"loads": {COUNT + 3: (0, 0, 1)}}, ["loads", str(COUNT + 3)]),
        ({"loads": {FIXED: (0, 0, 1)}}, ["loads", f"vertex {FIXED}", "fixed", "released="]),
        ({"loads": np.ones((COUNT, 3))}, ["loads", "fixed"]),
        ({"loads": np.ones((COUNT, 2))}, ["loads", f"({COUNT}, 3)"]),
        ({"loads": {V: (0, 0, 1)}, "displacements": {V: (None, None, 1e-3)}}, ["loads", f"z of vertex {V}", "None"]),
        ({"tractions": {V: (1, 0, 0)}, "displacements": {V: (1e-3, None, None)}}, ["tractions", f"x of vertex {V}"]),
        ({"tractions": {FIXED: (0, 1, 0)}}, ["tractions", f"vertex {FIXED}", "face_tractions="]),
        ({"face_tractions": {len(FACES): (0, 0, 1)}}, ["face_tractions", str(len(FACES))]),
        ({"face_tractions": np.ones((3, 3))}, ["face_tractions", f"({len(FACES)}, 3)"]),
        ({"released": [V]}, ["released", str(V), "free"]),
        ({"released": [COUNT]}, ["released", str(COUNT)]),
        ({"released": BOTTOM}, ["nothing holds", "fixed="]),
        ({"released": np.setdiff1d(BOTTOM, FIXED)}, ["3 of six", "displacements"]),
        ({"rigid_modes": "kept"}, ["rigid_modes", "'kept'", "removed"]),
        ({"rigid_modes": "removed"}, ["rigid_modes", "held"]),
    ],
)
def test_solving(pad: sn.Zone, arguments: dict, words: list[str]) -> None:
    before = pad.solve(displacements={V: (0, 0, -1e-3), W: (None, 0, 0)}, loads={int(TOP[0]): (0.1, 0, 0)})
    held, updated = pad._capacitance.rows, pad._capacitance.updated
    refused(words, pad.solve, **arguments)
    assert np.array_equal(pad._capacitance.rows, held) and pad._capacitance.updated == updated
    after = pad.solve(displacements={V: (0, 0, -1e-3), W: (None, 0, 0)}, loads={int(TOP[0]): (0.1, 0, 0)})
    assert np.array_equal(before.displacements, after.displacements) and np.array_equal(before.forces, after.forces)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"loads": {V: (0, 0, 1)}}, ["nothing holds", "three vertices", "rigid_modes"]),
        ({"displacements": {V: (0, 0, 1e-3), W: (0, 0, 0)}}, ["5 of six", "fixed="]),
        ({"loads": {V: (0, 0, 2.0)}, "rigid_modes": "removed"}, ["balance", "(0, 0, 2)", "N·m"]),
        ({"loads": {V: (0, 0, 2.0), W: (0, 0, -2.0)}, "rigid_modes": "removed"}, ["balance", "(0, 0, 0) N"]),
        ({"displacements": {V: (0, 0, 1e-3)}, "rigid_modes": "removed"}, ["rigid_modes", "displacements"]),
    ],
)
def test_a_body_that_nothing_holds(loose: sn.Zone, arguments: dict, words: list[str]) -> None:
    refused(words, loose.solve, **arguments)


@pytest.mark.parametrize(
    ("place", "arguments", "words"),
    [
        (V, {}, ["displacement", "force"]),
        (V, {"displacement": (0, 0, 1e-3), "force": (0, 0, 1)}, ["displacement", "force"]),
        (COUNT, {"force": (0, 0, 1)}, ["place", str(COUNT)]),
        ((0, 0), {"force": (0, 0, 1)}, ["place", "(0, 0)"]),
        ((0, 0, np.nan), {"force": (0, 0, 1)}, ["place", "nan"]),
        (V, {"force": (0, 0)}, ["force", "(0, 0)"]),
        (V, {"force": (0, None, 1)}, ["force", "None"]),
        (V, {"displacement": (0, 0)}, ["displacement", "(0, 0)"]),
        (V, {"displacement": (None, None, None)}, ["displacement", "component"]),
        (V, {"force": (0, 0, 1), "radius": -1.0}, ["radius", "-1.0"]),
        (V, {"force": (0, 0, 1), "radius": 1e-4}, ["radius", "0.0001", "corners"]),
        ((0.02, 0.02, 0.0), {"displacement": (0, 0, 1e-3), "radius": 0.0}, ["place", "support"]),
        (True, {"force": (0, 0, 1)}, ["place", "True"]),
    ],
)
def test_touching(pad: sn.Zone, place, arguments: dict, words: list[str]) -> None:
    refused(words, pad.touch, place, **arguments)


def test_touching_a_body_that_nothing_holds(loose: sn.Zone) -> None:
    refused(["nothing holds", "fixed="], loose.touch, V, force=(0, 0, 1))


def test_ways_to_say_the_same(pad: sn.Zone) -> None:
    """Masks, repeated ids, a trimesh, arrays for dictionaries."""
    mesh = trimesh.Trimesh(VERTICES, FACES, process=False)
    other = sn.Zone.from_mesh(mesh, material=GEL, fixed=VERTICES[:, 2] < 1e-9)
    assert np.array_equal(other.fixed, pad.fixed)
    assert np.array_equal(pad.with_fixed([*BOTTOM, *BOTTOM]).fixed, pad.fixed)
    loads, moves, tractions, on_faces = (np.zeros((k, 3)) for k in (COUNT, COUNT, COUNT, len(FACES)))
    loads[W], tractions[int(TOP[0])], on_faces[7] = (0.1, 0, 0), (0, 0, 50.0), (1.0, 2.0, 3.0)
    moves[:] = np.nan
    moves[V, 2] = -1e-3
    one = pad.solve(displacements=moves, loads=loads, tractions=tractions, face_tractions=on_faces)
    two = other.solve(
        displacements={V: (None, np.nan, -1e-3)},
        loads={W: (0.1, 0, 0)},
        tractions={np.int64(TOP[0]): [0, 0, 50.0]},
        face_tractions={7: (1.0, 2.0, 3.0)},
    )
    assert np.allclose(one.displacements, two.displacements, rtol=1e-12, atol=1e-18)


def test_what_is_read_is_a_copy(pad: sn.Zone) -> None:
    pad.vertices[:] = 0.0
    pad.faces[:] = 0
    pad.fixed[:] = 0
    assert np.array_equal(pad.vertices, VERTICES) and np.array_equal(pad.faces, FACES)
    assert np.array_equal(pad.fixed, BOTTOM)
    assert (pad.name, pad.method, pad.material) == ("pad", "bem", GEL)
    assert pad.volume == pytest.approx(0.04 * 0.04 * 0.02, rel=1e-12)
    state = pad.solve(loads={V: (0, 0, 1)})
    for name in ("displacements", "positions", "forces", "tractions", "corner_tractions", "force", "torque"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(state, name)[0] = 1.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"cells": [[0, 1, 2]]}, ["cells", "(c, 4)"]),
        ({"cells": [[0, 1, 2, 99]]}, ["cells", "99"]),
        ({"points": np.zeros((4, 2))}, ["points", "(4, 2)"]),
        ({"fixed": [13]}, ["fixed", "13", "inside"]),
        ({"material": None}, ["material"]),
    ],
)
def test_tetrahedra(arguments: dict, words: list[str]) -> None:
    points, cells = tetrahedra_of_block(cells=(2, 2, 2))
    given = {"points": points, "cells": cells, "material": GEL, "fixed": [0, 1, 3], **arguments}
    refused(words, sn.Zone.from_tetrahedra, **given)
