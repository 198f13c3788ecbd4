"""Rods that vary along their length in scenes: what they are made of, told, changed, kept in files, cut and refused."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import sennit as sn
from sennit import InputError

LENGTH = 0.8
HEMP = sn.Material(1e7, 0.4, 1000, relaxation_time=5e-3)
GUM = sn.Material(2e6, 0.45, 1400, relaxation_time=2e-2)
THIN, THICK = sn.Section.circle(4e-3), sn.Section.circle(8e-3)
MODELS = ("spline", "discrete")
CABLE = sn.Properties(EA=2e3, EI=[0.02, 0.01], GJ=0.01, mass=0.05, radius=4e-3, relaxation_time=0.01)


def taper(s: float) -> sn.Section:
    return sn.Section.circle(8e-3 - 5e-3 * s)


def ageing(s: float) -> sn.Material:
    return sn.Material(1e7 * (1 + s), 0.4, 1000 + 200 * s, relaxation_time=0.01 * s)


MADE = {
    "functions": {"section": taper, "material": ageing},
    "lists": {"section": [THICK, THIN], "material": [HEMP, GUM, HEMP]},
    "pieces": {"pieces": [(0.3, THICK, HEMP), (0.1, THIN, GUM), (None, taper, GUM)]},
    "properties": {"properties": CABLE},
}


def rope(model: str = "spline", **given) -> sn.Rod:
    return sn.Rod.straight((0, 0, 0), (LENGTH, 0, 0), control_points=12, model=model, **given)


def held(rod: sn.Rod) -> sn.Scene:
    scene = sn.Scene()
    scene.add(rod)
    scene.add(sn.Clamp(rod.at(0)))
    return scene


def numbers(rod: sn.Rod) -> list[np.ndarray]:
    """All of its tables that follow from what it is made of."""
    t = rod.tables
    parts = (t.bends.stiffness, t.bends.relaxation, t.stretches.stiffness, t.stretches.relaxation)
    return [*parts, t.masses.mass, t.masses.roll, t.masses.total, t.rods.radius, t.rods.mass_per_length]


@pytest.mark.parametrize("model", MODELS)
def test_what_is_the_same_everywhere_is_a_uniform_rod(model: str) -> None:
    plain = rope(model, section=THIN, material=HEMP)
    E, G, s = HEMP.youngs_modulus, HEMP.shear_modulus, THIN
    given = sn.Properties(
        EA=E * s.area, EI=lambda _: E * s.I1, GJ=[G * s.J] * 3, mass=1000 * s.area, radius=4e-3, relaxation_time=5e-3
    )
    for other in (
        {"section": lambda s: THIN, "material": HEMP}, {"section": [THIN, THIN], "material": [HEMP, HEMP]},
        {"pieces": [(0.33, THIN, HEMP), (None, THIN, HEMP)]}, {"properties": given},
    ):  # fmt: skip
        for mine, wanted in zip(numbers(rope(model, **other)), numbers(plain), strict=True):
            np.testing.assert_allclose(mine, wanted, rtol=1e-9)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("what", MADE)
def test_set_later_it_is_a_rod_made_so(what: str, model: str) -> None:
    made = rope(model, **MADE[what])
    if what == "pieces":  # where it jumps is known from the start alone
        rod = rope(model, pieces=[(0.3, THIN, HEMP), (0.1, THICK, HEMP), (None, THIN, HEMP)])
        given = MADE[what]["pieces"]
        ends = 0.3, 0.4, math.inf

        def at(s: float) -> tuple:
            return next(piece for end, piece in zip(ends, given, strict=True) if s < end)

        rod.section = lambda s: taper(s) if s >= 0.4 else at(s)[1]
        rod.material = lambda s: at(s)[2]
    elif what == "properties":
        rod = rope(model, section=THIN, material=HEMP)
        rod.properties = CABLE
    else:
        rod = rope(model, section=THIN, material=HEMP)
        rod.section, rod.material = MADE[what]["section"], MADE[what]["material"]
    for mine, wanted in zip(numbers(rod), numbers(made), strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-12)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("what", MADE)
def test_files_snapshots_and_cuts_follow(what: str, model: str, tmp_path) -> None:
    scene = held(rope(model, **MADE[what]))
    rod = scene.bodies[0]
    light = rod.mass
    ring, knob = rod.add_mass(at=0.4, mass=0.02, length=0.1), rod.add_mass(at=LENGTH, mass=0.01, radius=0.02)
    assert rod.mass - light == pytest.approx(0.03, rel=1e-12) and rod.added_masses == (ring, knob)
    scene.run(0.02, dt=5e-3)
    scene.save(tmp_path / "scene.npz")
    again = sn.Scene.load(tmp_path / "scene.npz")
    first, mass, ends = scene.snapshot(), rod.mass, []
    for one in (scene, again):
        one.run(0.02, dt=5e-3)
        ends.append(one.bodies[0].control_points)
    assert np.array_equal(*ends) and again.bodies[0].added_masses == rod.added_masses
    for mine, wanted in zip(numbers(again.bodies[0]), numbers(rod), strict=True):
        assert np.array_equal(mine, wanted)

    energy, bent = scene.energy.total, rod.energy.bend
    pieces = rod.cut(0.39)
    assert sum(piece.mass for piece in pieces) == pytest.approx(mass, rel=1e-12)
    assert sum(one.mass for piece in pieces for one in piece.added_masses) == pytest.approx(0.03, rel=1e-12)
    assert scene.energy.total == pytest.approx(energy, abs=0.15 * bent)  # as of cuts of uniform rods
    scene.run(0.02, dt=5e-3)
    scene.restore(first)
    assert rod.mass == mass and rod.added_masses == (ring, knob)
    scene.run(0.02, dt=5e-3)
    assert np.array_equal(rod.control_points, ends[0])
    rod.remove_mass(ring)
    rod.remove_mass(knob)
    assert rod.mass == pytest.approx(light, rel=1e-12)
    scene.reset()  # to what it was made of when it began to move
    assert rod.added_masses == (ring, knob) and rod.mass == pytest.approx(mass, rel=1e-12)


def test_an_added_mass_is_in_the_energy_and_the_account() -> None:
    scene = held(rope(section=THIN, material=HEMP))
    rod = scene.bodies[0]
    scene.run(0.05, dt=5e-3)
    before, fell = scene.energy, float(rod.at(0.5).position[2])
    rod.add_mass(at=0.5, mass=0.1)
    after = scene.energy
    assert after.gravity - before.gravity == pytest.approx(0.1 * 9.81 * fell, rel=1e-9)
    assert scene.energy_put_in == pytest.approx(after.total - before.total, rel=1e-9)


def test_masses_of_a_closed_rod_go_round_and_are_cut(tmp_path) -> None:
    turn = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    ring = np.column_stack((np.cos(turn), np.sin(turn), 0 * turn))
    pieces = [(3.0, THICK, HEMP), (None, THIN, GUM)]
    rod = sn.Rod.through(ring, pieces=pieces, control_points=20, closed=True)
    light = rod.mass
    area = 3.0 * THICK.area * 1000 + (rod.length - 3.0) * THIN.area * 1400
    assert light == pytest.approx(area, rel=1e-9)
    rod.add_mass(at=0.0, mass=0.5, length=0.4)
    middle = rod.tables.masses.total @ rod.control_points
    (opened,) = rod.cut(2.0)
    assert opened.mass == pytest.approx(light + 0.5, rel=1e-9)
    np.testing.assert_allclose(opened.tables.masses.total @ opened.control_points, middle, atol=1e-6)


def test_the_largest_radius_is_told_and_touched() -> None:
    rod = rope(section=taper, material=HEMP)
    assert rod.radius == 8e-3 and rod.section.radius == 8e-3 and rod.section.values.shape == (len(rod.section.s), 7)
    assert rope(properties=CABLE).section is None and rope(properties=CABLE).properties.shape[1] == 8
    assert rope(section=taper, material=ageing).damping == pytest.approx(8e-3)
    rod.damping = 0.02
    assert (rod.tables.bends.relaxation == 0.02).all() and rod.material.relaxation_time == 0.02


calls = itertools.count()
BAD = [
    (
        {"section": lambda s: sn.Section.circle(1e-3 * (1 + next(calls))), "material": HEMP},
        "a function of s alone: at s",
    ),
    ({"section": lambda s: sn.Section.circle(1e-2 - 2e-2 * s), "material": HEMP}, r"section at s = 0\.\d+ m: radius"),
    ({"section": lambda s: 3.0, "material": HEMP}, r"section\(0\.\d+\) must tell a sennit.Section, got 3"),
    ({"section": [THIN], "material": HEMP}, "a list of two or more"),
    (
        {"section": [THIN, sn.Section.tube(2e-3, 1e-3)], "material": HEMP},
        "of one kind, got 'circle' and 'tube'",
    ),
    ({"section": THIN}, "material must be a sennit.Material, got None"),
    ({"section": THIN, "material": HEMP, "properties": CABLE}, "got section and material and properties"),
    ({"pieces": [(0.5, THIN, HEMP)]}, "must sum to that of the rod, 0.8 m, got 0.5 m"),
    ({"pieces": [(0.5, THIN, HEMP), (0.3, THIN)]}, "pieces must be a list of"),
    ({"pieces": [(None, THIN, HEMP), (None, THIN, HEMP)]}, "2 have None"),
    ({"pieces": [(-0.5, THIN, HEMP), (None, THIN, HEMP)]}, "length of piece 0 must be .* got -0.5"),
    ({"pieces": [(0.5, THIN, HEMP), (None, 2.0, HEMP)]}, "section of piece 1 must be"),
    ({"pieces": 7}, "pieces must be a list of"),
    ({"properties": 7}, "properties must be a sennit.Properties, got 7"),
]


@pytest.mark.parametrize(("given", "text"), BAD, ids=range(len(BAD)))
def test_what_a_rod_can_not_be_made_of(given: dict, text: str) -> None:
    with pytest.raises(InputError, match=text):
        rope(**given)


def test_stiffness_that_is_negative_somewhere_names_the_place() -> None:
    for name, fall in (("EI", 0.5), ("EA", 0.2), ("GJ", 0.6), ("mass", 0.7), ("relaxation_time", 0.3)):
        given = {"EA": 1.0, "EI": 1.0, "GJ": 1.0, "mass": 1.0, "radius": 1.0} | {name: lambda s, fall=fall: fall - s}
        with pytest.raises(InputError, match=r"would be -.* at s = 0\.\d+ m"):
            rope(properties=sn.Properties(**given))
    for bad in (-1.0, math.nan, [1.0, -2.0], [1.0], "2", [[1.0, 2.0]]):
        with pytest.raises(InputError, match="EI"):
            sn.Properties(EA=1, EI=bad, GJ=1, mass=1, radius=1)
    told = iter(range(10**6))
    with pytest.raises(InputError, match="EI must be a function of s alone: at s = "):
        rope(properties=sn.Properties(EA=1, EI=lambda s: 1.0 + next(told), GJ=1, mass=1, radius=1))


def test_what_is_refused_later_changes_nothing() -> None:
    scene = held(rope(pieces=MADE["pieces"]["pieces"]))
    rod = scene.bodies[0]
    known = [array.copy() for array in numbers(rod)]
    other = rope(section=THIN, material=HEMP).add_mass(at=0.1, mass=1.0)
    for attempt, text in (
        (lambda: setattr(rod, "section", lambda s: sn.Section.circle(0.01 - 0.02 * s)), "section at s = "),
        (lambda: setattr(rod, "material", 3), "material must be"),
        (lambda: rod.add_mass(at=0.9, mass=1.0), "at must be from 0 to the rod's length 0.8 m, got 0.9"),
        (lambda: rod.add_mass(at=0.75, mass=1.0, length=0.2), "at must be from 0.1 to 0.7 m, got 0.75"),
        (lambda: rod.add_mass(at=0.5, mass=-1.0), "mass must be"),
        (lambda: rod.add_mass(at=0.5, mass=1.0, radius=0.0), "radius must be"),
        (lambda: rod.remove_mass(other), "has no such mass"),
    ):
        with pytest.raises(InputError, match=text):
            attempt()
    assert all(map(np.array_equal, numbers(rod), known)) and rod.added_masses == ()
    with pytest.raises(InputError, match="it was made with properties"):
        rope(properties=CABLE).section = THIN


def test_batches_of_rods_that_vary() -> None:
    scene = held(rope(section=taper, material=ageing))
    rod = scene.bodies[0]
    batch = sn.Batch(scene, 2)
    batch.vary(rod, "rest_curvature", [(0.0, 0.0), (0.0, 2.0)])
    batch.step(5e-3, 4)
    other = held(rope(section=taper, material=ageing, rest_curvature=(0.0, 2.0)))
    other.run(0.02, dt=5e-3)
    np.testing.assert_allclose(batch.scene(1).bodies[0].control_points, other.bodies[0].control_points, atol=1e-12)
    with pytest.raises(InputError, match="made of numbers that change along it"):
        batch.vary(rod, "density", [1.0, 2.0])


def test_text_says_lists_pieces_and_properties(tmp_path) -> None:
    scene = sn.Scene()
    pieces = [(0.3, THICK, HEMP), (None, THIN, GUM)]
    for k, made in enumerate(({"section": [THIN, THICK], "material": HEMP}, {"pieces": pieces}, MADE["properties"])):
        scene.add(rope(name=f"rope {k}", **made))
    scene.write(tmp_path / "scene.toml")
    for mine, other in zip(sn.Scene.read(tmp_path / "scene.toml").bodies, scene.bodies, strict=True):
        assert all(map(np.array_equal, numbers(mine), numbers(other)))
    scene.bodies[0].add_mass(at=0.1, mass=1.0)
    with pytest.raises(InputError, match="masses were added"):
        scene.write(tmp_path / "other.toml")


def test_it_is_drawn_as_thick_as_it_is() -> None:
    from sennit.portrait.of_scene import portrait_of

    scene = held(rope(section=taper, material=HEMP))
    scene.add(rope(section=THIN, material=HEMP))
    tapered, plain = (part for part in portrait_of(scene).cast.parts if part.kind == "tube" and part.role == "body")
    assert plain.widths is None and tapered.half == (8e-3, 8e-3)
    places = np.linspace(0, LENGTH, tapered.count)
    np.testing.assert_allclose(tapered.widths * 8e-3, 8e-3 - 5e-3 * places, rtol=1e-6)
