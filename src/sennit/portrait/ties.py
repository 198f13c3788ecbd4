"""What constraints look like. `draw_tie` is a registry: a kind that it does not know is shown by marks.

Cables and their sheaves are lines and wheels, links, circles and spheres are parts that change with time.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from sennit.constraints.cable.cable import Cable
from sennit.constraints.cable.sheave import Sheave
from sennit.constraints.constraint import AbstractConstraint
from sennit.constraints.join import Distance
from sennit.constraints.place import OnCircle, OnSphere
from sennit.portrait import colours
from sennit.portrait.bodies import rope_tones, section_half, solid_part
from sennit.portrait.cables import station_count
from sennit.portrait.links import circle_part, link_part, sphere_part
from sennit.portrait.looks import BARE, look_of, rod_finish
from sennit.portrait.marks import marks_of, pinned_rod
from sennit.portrait.now import Carried
from sennit.portrait.parts import SolidView, Tube, TubeView
from sennit.portrait.solids import bollard, wheel
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.portrait.of_scene import ScenePortrait

__all__ = ["draw_cable", "draw_tie"]

_CABLE = 0.002
"""Radius of a cable without a section, over the size of the scene."""


@functools.singledispatch
def draw_tie(constraint: AbstractConstraint, portrait: ScenePortrait) -> None:
    """Add the parts of a constraint to a portrait."""
    rod = pinned_rod(constraint)
    for mark in marks_of(constraint, portrait.size, 0 if rod is None else portrait.pins[rod]):
        name = portrait.named(constraint.name)
        part = solid_part(name, mark.mesh, mark.colour, mark.finish, role="tie", opacity=mark.opacity)
        portrait.add_carried(part, mark.carried, constraint, lambda: constraint.enabled)


@draw_tie.register(Distance)
def _draw_link(constraint: Distance, portrait: ScenePortrait) -> None:
    name = portrait.named(constraint.name)
    portrait.add(*link_part(constraint, portrait.now, portrait.size, name), constraint)


@draw_tie.register(OnCircle)
def _draw_circle(constraint: OnCircle, portrait: ScenePortrait) -> None:
    name = portrait.named(constraint.name)
    portrait.add(*circle_part(constraint, portrait.now, portrait.size, name), constraint)


@draw_tie.register(OnSphere)
def _draw_sphere(constraint: OnSphere, portrait: ScenePortrait) -> None:
    portrait.add(*sphere_part(constraint, portrait.now, portrait.named(constraint.name)), constraint)


# ----------------------------------------------------------------------------------------------------------- cables


@draw_tie.register(Cable)
def _drawn_before(constraint: Cable, portrait: ScenePortrait) -> None:
    """Cables come first, see `draw_cable`."""


def draw_cable(cable: Cable, portrait: ScenePortrait) -> None:
    """Add a cable, and its sheaves as far as no cable before it has them."""
    look, now = look_of(cable.section, cable._material), portrait.now
    colour, finish = rope_tones(look, cable._material, colours.CABLES, portrait), rod_finish(look, cable._material)
    half, flat = ((portrait.size * _CABLE,) * 2, False) if cable.section is None else section_half(cable.section)
    part = Tube(
        name=portrait.named(cable.name), colour=colour, role="tie", count=station_count(cable), half=half,
        rectangular=flat, stripe=colours.lighter(colour, 0.6) if cable.twists else None, fields=("tension",), look=look,
        rough=finish.rough, metal=finish.metal,
    )  # fmt: skip
    lines = now.cables
    assert lines is not None
    where = lines.slices[cable]

    def read(view: TubeView) -> None:
        if not now.holds(cable) or not cable.enabled or cable.broken:
            view.shown[0] = 0.0
        view.centres[:], view.directors[:] = lines.centres[where], lines.directors[where]
        view.fields["tension"][:] = lines.tension[where]

    portrait.add(part, read, cable)
    for sheave in cable.sheaves:
        if sheave is not None and sheave not in portrait.sheaves:
            portrait.sheaves.add(sheave)
            _draw_sheave(sheave, cable, max(half), portrait)


def _draw_sheave(sheave: Sheave, cable: Cable, rope: float, portrait: ScenePortrait) -> None:
    if sheave.fixed and _is_drum(sheave):
        return  # the body is seen already
    make = bollard if sheave.fixed else wheel
    mesh = make(sheave.radius, min(rope, 0.3 * sheave.radius), colours.SHEAVE)
    part = solid_part(portrait.named(f"sheave of {cable.name}"), mesh, colours.SHEAVE, BARE, role="tie")
    axes = np.column_stack((sheave.mark, np.cross(sheave.axis, sheave.mark), sheave.axis))
    now, lines = portrait.now, portrait.now.cables
    assert lines is not None
    number = now.carry(Carried(sheave.point, sheave.point, rotation=axes))

    def read(view: SolidView) -> None:
        view.position[:] = now.positions[number]
        view.quaternion[:] = _spun(now.quaternions[number], lines.angles.get(sheave, 0.0))
        if not now.holds(cable):
            view.shown[0] = 0.0

    portrait.add(part, read, sheave)


def _is_drum(sheave: Sheave) -> bool:
    """Whether the body that carries a sheave is round, and as large."""
    form = getattr(sheave.point.body, "form", {})
    round_ = form.get("kind") in ("cylinder", "sphere")
    return round_ and math.isclose(form["radius"], sheave.radius, rel_tol=0.05)


def _spun(quaternion: FloatArray, angle: float) -> FloatArray:
    """`quaternion` after a turn by `angle` (rad) about its own z axis."""
    w, x, y, z = quaternion.tolist()
    c, s = math.cos(0.5 * angle), math.sin(0.5 * angle)
    return np.array((w * c - z * s, x * c + y * s, y * c - x * s, z * c + w * s))
