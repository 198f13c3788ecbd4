"""The portrait of a scene: what its bodies, constraints, loads and decoration look like, and where they are now."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np

from sennit.bodies.rigid.body import RigidBody
from sennit.bodies.rod.rod import Rod
from sennit.bodies.slider.slider import Slider
from sennit.bodies.zone.places import ZonePlaces
from sennit.constraints.cable.cable import Cable
from sennit.constraints.cable.sheave import Sheave
from sennit.constraints.constraint import AbstractConstraint
from sennit.constraints.join import Distance
from sennit.constraints.place import OnCircle, OnSphere
from sennit.constraints.slide import Keyhole, Pearl
from sennit.controls import Decor
from sennit.material import Section
from sennit.portrait import colours
from sennit.portrait.cables import station_count
from sennit.portrait.cast import Portrait
from sennit.portrait.links import arrow_part, circle_part, link_part, sphere_part
from sennit.portrait.marks import marks_of
from sennit.portrait.now import Carried, SceneNow
from sennit.portrait.parts import Colour, Solid, SolidView, Surface, SurfaceView, Tube, TubeView
from sennit.portrait.rods import station_counts
from sennit.portrait.sizes import scene_size
from sennit.portrait.solids import Mesh, ball, bollard, cylinder, form_mesh, two_shades, wheel
from sennit.scene.scene import Scene
from sennit.validation import FloatArray

__all__ = ["ScenePortrait", "portrait_of", "section_half"]

_CABLE = 0.002
"""Radius of a cable without a section, over the size of the scene."""


def portrait_of(scene: Scene, without: Collection[AbstractConstraint] = ()) -> ScenePortrait:
    """What `scene` looks like. Rods, rigid bodies, zones and pearls have the role "body"; what shows constraints,
    loads, cables and sheaves "tie"; decoration "decor".

    The subjects of its parts are the bodies, constraints, sheaves, loads and `Decor`s themselves. Its parts stay those
    that were there when it was made (see `ScenePortrait.current`): what is removed from the scene is hidden.
    Constraints in `without` are left out.
    """
    return ScenePortrait(scene, without)


def section_half(section: Section) -> tuple[tuple[float, float], bool]:
    """Half widths (m) along d1 and d2 by which a section is drawn, and whether it is a rectangle."""
    if section.kind == "rectangle":
        width, height = section.dimensions
        return (0.5 * width, 0.5 * height), True
    return (section.radius, section.radius), False


class ScenePortrait(Portrait):
    """The portrait of a scene; made by `portrait_of`."""

    def __init__(self, scene: Scene, without: Collection[AbstractConstraint] = ()) -> None:
        self.scene = scene
        ties = [tie for tie in scene.constraints if tie not in without]
        rods = [body for body in scene.bodies if isinstance(body, Rod)]
        spline = [rod for rod in rods if rod.model == "spline"]
        cables = [tie for tie in ties if isinstance(tie, Cable)]
        counts = dict(zip(rods, station_counts(rods), strict=True))
        self._now = SceneNow(scene, spline, [counts[rod] for rod in spline], cables)
        super().__init__(self._now.read)
        self._names: dict[str, int] = {}
        self._contents = _contents(scene)
        self.size = scene_size(scene)
        """How large what is shown is, m: the diagonal of the box round it when the portrait was made."""
        self._add_bodies(counts)
        self._add_cables(cables)
        for constraint in ties:
            self._add_constraint(constraint)
        for load in scene.loads:
            self.add(*arrow_part(load, self._now, self.size, self._name(load.name)), load)
        for decor in scene.decor:
            self._add_decor(decor)

    @property
    def current(self) -> bool:
        """Whether the scene still holds what it held when the portrait was made, and nothing else."""
        return self._contents == _contents(self.scene)

    def _name(self, name: str) -> str:
        """`name`, with a number behind it if it is taken."""
        number = self._names[name] = self._names.get(name, 0) + 1
        return name if number == 1 else self._name(f"{name} ({number})")

    # -------------------------------------------------------------------------------------------------------- bodies

    def _add_bodies(self, counts: dict[Rod, int]) -> None:
        rods, solids, zones = map(colours.cycle, (colours.RODS, colours.SOLIDS, colours.ZONES))
        in_holes = {tie.slider for tie in self.scene.constraints if isinstance(tie, Keyhole)}
        dressed = {decor.on.body for decor in self.scene.decor if decor.instead and decor.on is not None}
        for body in self.scene.bodies:
            if body in dressed:
                continue
            if isinstance(body, Rod):
                self._add_rod(body, counts[body], next(rods))
            elif isinstance(body, RigidBody):
                self._add_rigid(body, next(solids))
            elif isinstance(body, Slider):
                if body not in in_holes:
                    self._add_slider(body, next(solids))
            elif isinstance(body, ZonePlaces):
                self._add_zone(body, next(zones))

    def _add_rod(self, rod: Rod, count: int, colour: Colour) -> None:
        half, flat = section_half(rod.section)
        part = Tube(
            name=self._name(rod.name), colour=colour, count=count, half=half, rectangular=flat, closed=rod.closed,
            stripe=colours.lighter(colour, 0.62), fields=("curvature", "twist", "tension"),
        )  # fmt: skip
        now = self._now

        def read(view: TubeView) -> None:
            where = now.slices.get(rod)
            if where is None:
                view.shown[0] = 0.0
                return
            stations = now.stations
            view.centres[:], view.directors[:] = stations.centres[where], stations.directors[where]
            for name, values in view.fields.items():
                values[:] = getattr(stations, name)[where]

        def read_slowly(view: TubeView) -> None:
            if not now.holds(rod):
                view.shown[0] = 0.0
                return
            view.centres[:], view.directors[:] = rod.centerline(count), rod.frames(count)[:, :, 0]
            strains = rod.curvatures(count)
            view.fields["curvature"][:] = np.hypot(strains[:, 0], strains[:, 1])
            view.fields["twist"][:], view.fields["tension"][:] = strains[:, 2], rod.tensions(count)

        self.add(part, read if rod.model == "spline" else read_slowly, rod)

    def _add_rigid(self, body: RigidBody, colour: Colour) -> None:
        mesh = form_mesh(body.form, body.mass, body.inertia, colour)
        now = self._now

        def read(view: SolidView) -> None:
            if not now.holds(body):
                view.shown[0] = 0.0
            view.position[:], view.quaternion[:] = body._arrays["q"][:3], body._arrays["quat"][0]

        self.add(solid_part(self._name(body.name), mesh, colour), read, body)

    def _add_slider(self, slider: Slider, colour: Colour) -> None:
        if isinstance(slider, Pearl):
            mesh = two_shades(ball(slider.radius), colour)
        else:
            radius = slider.rod.section.radius
            mesh = cylinder(max(1.6 * radius, 0.003 * self.size), max(4.0 * radius, 0.008 * self.size))
        point = slider.at()
        self.add_carried(
            solid_part(self._name(slider.name), mesh, colour), Carried(point, point), slider, lambda: slider.attached
        )

    def _add_zone(self, zone: ZonePlaces, colour: Colour) -> None:
        surface = zone._surface
        part = Surface(
            name=self._name(zone.name), colour=colour, count=len(surface.vertices),
            faces=np.array(surface.faces, np.int64), fields=("pressure", "displacement"),
        )  # fmt: skip
        now, areas = self._now, _vertex_areas(surface.vertices, surface.faces)

        def read(view: SurfaceView) -> None:
            if not now.holds(zone):
                view.shown[0] = 0.0
            moved, pose = zone.displacements, zone.pose
            view.vertices[:] = (surface.vertices + moved) @ pose.rotation.T + pose.position
            view.fields["displacement"][:] = np.sqrt(np.einsum("ij,ij->i", moved, moved))
            inwards = -np.einsum("ij,ij->i", zone.place_forces, surface.vertex_normals)
            view.fields["pressure"][:] = inwards / areas

        self.add(part, read, zone)

    # -------------------------------------------------------------------------------------------------------- cables

    def _add_cables(self, cables: Iterable[Cable]) -> None:
        now, tones = self._now, colours.cycle(colours.CABLES)
        shown: set[Sheave] = set()
        for cable in cables:
            colour = next(tones)
            half, flat = ((self.size * _CABLE,) * 2, False) if cable._section is None else section_half(cable._section)
            part = Tube(
                name=self._name(cable.name), colour=colour, role="tie", count=station_count(cable), half=half,
                rectangular=flat, stripe=colours.lighter(colour, 0.6) if cable._twists else None, fields=("tension",),
            )  # fmt: skip
            self.add(part, _cable_reader(now, cable), cable)
            for sheave in (e for e in cable.entries if isinstance(e, Sheave)):
                if sheave not in shown:
                    shown.add(sheave)
                    self._add_sheave(sheave, cable, max(half))

    def _add_sheave(self, sheave: Sheave, cable: Cable, rope: float) -> None:
        body = sheave.point.body
        if sheave.fixed and isinstance(body, RigidBody) and body.form["kind"] in ("cylinder", "sphere"):
            if math.isclose(body.form["radius"], sheave.radius, rel_tol=0.05):
                return  # the body is the drum, and is seen already
        make = bollard if sheave.fixed else wheel
        mesh = make(sheave.radius, min(rope, 0.3 * sheave.radius), colours.SHEAVE)
        part = solid_part(self._name(f"sheave of {cable.name}"), mesh, colours.SHEAVE, role="tie")
        axes = np.column_stack((sheave._mark, np.cross(sheave._axis, sheave._mark), sheave._axis))
        now, lines = self._now, self._now.cables
        assert lines is not None
        number = now.carry(Carried(sheave.point, sheave.point, rotation=axes))

        def read(view: SolidView) -> None:
            view.position[:] = now.positions[number]
            view.quaternion[:] = _spun(now.quaternions[number], lines.angles.get(sheave, 0.0))
            if not now.holds(cable):
                view.shown[0] = 0.0

        self.add(part, read, sheave)

    # --------------------------------------------------------------------------------------------------------- marks

    def _add_constraint(self, constraint: AbstractConstraint) -> None:
        now, name = self._now, constraint.name
        if isinstance(constraint, Distance):
            self.add(*link_part(constraint, now, self.size, self._name(name)), constraint)
        elif isinstance(constraint, OnCircle):
            self.add(*circle_part(constraint, now, self.size, self._name(name)), constraint)
        elif isinstance(constraint, OnSphere):
            self.add(*sphere_part(constraint, now, self._name(name)), constraint)
        for mark in marks_of(constraint, self.size):
            part = solid_part(self._name(name), mark.mesh, mark.colour, role="tie", opacity=mark.opacity)
            self.add_carried(part, mark.carried, constraint, lambda: constraint.enabled)

    def add_carried(
        self, part: Solid, thing: Carried, subject: Any, shown: Callable[[], bool] | None = None
    ) -> None:  # fmt: skip
        """Add a solid that moves with points; it is hidden while `shown` says False and once it left the scene."""
        now = self._now
        number = now.carry(thing)

        def read(view: SolidView) -> None:
            view.position[:], view.quaternion[:] = now.positions[number], now.quaternions[number]
            if not (now.holds(subject) and (shown is None or shown())):
                view.shown[0] = 0.0

        self.add(part, read, subject)

    def _add_decor(self, decor: Decor) -> None:
        body = decor.on.body if decor.instead and decor.on is not None else None
        part = Solid(
            name=self._name(decor.name), colour=decor.colour, role="body" if body else "decor", opacity=decor.opacity,
            vertices=decor.vertices, faces=decor.faces, face_colours=decor.face_colours, smooth=decor.smooth,
        )  # fmt: skip
        now = self._now
        number = now.carry(Carried(decor.on, decor.on))

        def read(view: SolidView) -> None:
            view.position[:], view.quaternion[:] = now.positions[number], now.quaternions[number]
            if not decor.shown or (body is not None and not now.holds(body)):
                view.shown[0] = 0.0

        self.add(part, read, decor if body is None else body)


def solid_part(name: str, mesh: Mesh, colour: Colour, *, role: Any = "body", opacity: float = 1.0) -> Solid:
    """The part that a mesh is."""
    return Solid(
        name=name, colour=colour, role=role, opacity=opacity, vertices=mesh.vertices, faces=mesh.faces,
        face_colours=mesh.colours, smooth=mesh.smooth,
    )  # fmt: skip


def _cable_reader(now: SceneNow, cable: Cable) -> Callable[[TubeView], None]:
    lines = now.cables
    assert lines is not None
    where = lines.slices[cable]

    def read(view: TubeView) -> None:
        if not now.holds(cable) or not cable.enabled or cable.broken:
            view.shown[0] = 0.0
        view.centres[:], view.directors[:] = lines.centres[where], lines.directors[where]
        view.fields["tension"][:] = lines.tension[where]

    return read


def _spun(quaternion: FloatArray, angle: float) -> FloatArray:
    """`quaternion` after a turn by `angle` (rad) about its own z axis."""
    w, x, y, z = quaternion.tolist()
    c, s = math.cos(0.5 * angle), math.sin(0.5 * angle)
    return np.array((w * c - z * s, x * c + y * s, y * c - x * s, z * c + w * s))


def _contents(scene: Scene) -> tuple[Any, ...]:
    return scene.bodies, scene.constraints, scene.loads, scene.decor


def _vertex_areas(vertices: FloatArray, faces: Any) -> FloatArray:
    """A third of the faces round each vertex, (v,), m²."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 6.0
    return np.asarray(np.bincount(faces.ravel(), np.repeat(areas, 3), len(vertices)), np.float64)
