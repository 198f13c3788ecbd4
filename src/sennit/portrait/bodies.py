"""What bodies look like. `draw_body` is a registry: a kind of body says here how it is drawn."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from sennit.bodies.rigid.body import RigidBody
from sennit.bodies.rod.made import Materials
from sennit.bodies.rod.rod import Rod
from sennit.bodies.slider.pearl import Pearl
from sennit.bodies.slider.slider import Slider
from sennit.bodies.zone.places import ZonePlaces
from sennit.material import Look, Material, Section
from sennit.portrait import colours
from sennit.portrait.looks import FLESH, POLISHED, Finish, body_finish, look_of, rod_finish
from sennit.portrait.now import Carried
from sennit.portrait.parts import ROD_FIELDS, Colour, Solid, Surface, SurfaceView, Tube, TubeView
from sennit.portrait.shapes import shapes_mesh
from sennit.portrait.solids import Mesh, ball, cylinder, form_mesh, two_shades
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.portrait.of_scene import ScenePortrait

__all__ = ["draw_body", "rope_tones", "section_half", "solid_part"]


def section_half(section: Section) -> tuple[tuple[float, float], bool]:
    """Half widths (m) along d1 and d2 by which a section is drawn, and whether it is a rectangle."""
    if section.kind == "rectangle":
        width, height = section.dimensions
        return (0.5 * width, 0.5 * height), True
    return (section.radius, section.radius), False


def _outline_of(rod: Rod, count: int) -> tuple[tuple[float, float], bool, FloatArray | None]:
    """Largest half widths (m) of a rod, whether it is flat, and its widths over the largest at `count` stations.

    Where sections vary, all of them are drawn in the proportions of the widest.
    """
    section, properties = rod.section, rod.properties
    if isinstance(section, Section):
        return *section_half(section), None
    if section is None:
        assert properties is not None
        if properties.ndim == 1:
            return (rod.radius, rod.radius), False, None
        radius = properties[:, 7]
        half, flat = (rod.radius, rod.radius), False
    else:
        radius, flat = section.values[:, 6], section.kind == "rectangle"
        widest = section.values[int(radius.argmax())]
        half = (float(widest[4]), float(widest[5])) if flat else (rod.radius, rod.radius)
    s = rod.tables.places.s
    order = np.argsort(s, kind="stable")
    at = rod.tables.model.length_at(rod.tables, rod._stations(count))
    return half, flat, np.interp(at, s[order], radius[order]) / rod.radius


def solid_part(
    name: str, mesh: Mesh, colour: Colour, finish: Finish, *, role: Any = "body", opacity: float = 1.0
) -> Solid:
    """The part that a mesh is."""
    return Solid(
        name=name, colour=colour, role=role, opacity=opacity, vertices=mesh.vertices, faces=mesh.faces,
        face_colours=mesh.colours, smooth=mesh.smooth, rough=finish.rough, metal=finish.metal,
    )  # fmt: skip


def rope_tones(look: Look, material: Material | None, tones: tuple[Colour, ...], portrait: ScenePortrait) -> Colour:
    """The colour of a rod or a cable: its material's, that of steel of ropes of wire, else the next one of `tones`."""
    if material is not None and material.colour is not None:
        return material.colour
    return portrait.next_colour(colours.WIRES if look == "wire" else tones)


@functools.singledispatch
def draw_body(body: Any, portrait: ScenePortrait) -> None:
    """Add the parts of a body to a portrait; none for a kind that nothing is known of."""


@draw_body.register(Rod)
def _draw_rod(rod: Rod, portrait: ScenePortrait) -> None:
    count = portrait.counts[rod]
    half, flat, widths = _outline_of(rod, count)
    section = rod.section if isinstance(rod.section, Section) else None
    material = rod.material.first if isinstance(rod.material, Materials) else rod.material
    look = look_of(section, material, rod.length) if section or (material and material.look) else "smooth"
    colour, finish = rope_tones(look, material, colours.RODS, portrait), rod_finish(look, material)
    part = Tube(
        name=portrait.named(rod.name), colour=colour, count=count, half=half, rectangular=flat, widths=widths,
        closed=rod.closed,
        stripe=colours.lighter(colour, 0.62), fields=ROD_FIELDS, look=look,
        rough=finish.rough, metal=finish.metal,
    )  # fmt: skip
    now = portrait.now
    if rod.model == "spline":
        portrait.add_rod(part, rod)
        return

    def read_slowly(view: TubeView) -> None:
        if not now.holds(rod):
            view.shown[0] = 0.0
            return
        view.centres[:], view.directors[:] = rod.centerline(count), rod.frames(count)[:, :, 0]
        strains = rod.curvatures(count)
        view.fields["curvature"][:] = np.hypot(strains[:, 0], strains[:, 1])
        view.fields["twist"][:], view.fields["tension"][:] = strains[:, 2], rod.tensions(count)

    portrait.add(part, read_slowly, rod)


@draw_body.register(RigidBody)
def _draw_rigid(body: RigidBody, portrait: ScenePortrait) -> None:
    colour = portrait.next_colour(colours.SOLIDS)
    if body._given_shapes is None:
        mesh = form_mesh(body.form, body.mass, body.inertia, colour, plain=portrait.crowded)
    else:
        mesh = shapes_mesh(body._given_shapes, colour)

    finish = body_finish(body.form, body.mass)
    portrait.add_rigid(solid_part(portrait.named(body.name), mesh, colour, finish), body)


@draw_body.register(Slider)
def _draw_slider(slider: Slider, portrait: ScenePortrait) -> None:
    radius, size = slider.rod.radius, portrait.size
    mesh = cylinder(max(1.6 * radius, 0.003 * size), max(4.0 * radius, 0.008 * size))
    _add_bead(slider, mesh, portrait.next_colour(colours.SOLIDS), portrait)


@draw_body.register(Pearl)
def _draw_pearl(pearl: Pearl, portrait: ScenePortrait) -> None:
    colour = portrait.next_colour(colours.PEARLS)
    _add_bead(pearl, two_shades(ball(pearl.radius, 12 if portrait.crowded else 20), colour), colour, portrait)


def _add_bead(slider: Slider, mesh: Mesh, colour: Colour, portrait: ScenePortrait) -> None:
    point, part = slider.at(), solid_part(portrait.named(slider.name), mesh, colour, POLISHED)
    portrait.add_carried(part, Carried(point, point), slider, lambda: slider.attached)


@draw_body.register(ZonePlaces)
def _draw_zone(zone: ZonePlaces, portrait: ScenePortrait) -> None:
    surface, now = zone.surface, portrait.now
    part = Surface(
        name=portrait.named(zone.name), colour=zone._material.colour or portrait.next_colour(colours.ZONES),
        count=len(surface.vertices), faces=np.array(surface.faces, np.int64), fields=("pressure", "displacement"),
        rough=FLESH.rough,
    )  # fmt: skip
    areas = _vertex_areas(surface.vertices, surface.faces)

    def read(view: SurfaceView) -> None:
        if not now.holds(zone):
            view.shown[0] = 0.0
        moved, pose = zone.displacements, zone.pose
        view.vertices[:] = (surface.vertices + moved) @ pose.rotation.T + pose.position
        view.fields["displacement"][:] = np.sqrt(np.einsum("ij,ij->i", moved, moved))
        inwards = -np.einsum("ij,ij->i", zone.place_forces, surface.vertex_normals)
        view.fields["pressure"][:] = inwards / areas

    portrait.add(part, read, zone)


def _vertex_areas(vertices: FloatArray, faces: Any) -> FloatArray:
    """A third of the faces round each vertex, (v,), m²."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 6.0
    return np.asarray(np.bincount(faces.ravel(), np.repeat(areas, 3), len(vertices)), np.float64)
