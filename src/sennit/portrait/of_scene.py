"""The portrait of a scene: what its bodies, constraints, loads and decoration look like, and where they are now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np

from sennit.bodies.rigid.body import RigidBody
from sennit.bodies.rod.rod import Rod
from sennit.constraints.cable.sheave import Sheave
from sennit.constraints.constraint import AbstractConstraint
from sennit.controls import Decor
from sennit.portrait import colours
from sennit.portrait.bodies import draw_body
from sennit.portrait.cast import Portrait
from sennit.portrait.links import arrow_part
from sennit.portrait.marks import pinned_rod, shown_by
from sennit.portrait.now import Carried, SceneNow
from sennit.portrait.parts import ROD_FIELDS, Colour, Solid, SolidView, Tube
from sennit.portrait.rods import station_counts
from sennit.portrait.shapes import draw_obstacle
from sennit.portrait.sizes import rods_in, scene_box, scene_size
from sennit.portrait.ties import draw_cable, draw_tie
from sennit.scene.scene import Scene
from sennit.validation import FloatArray

__all__ = ["ScenePortrait", "portrait_of"]


CROWD = 2000
"""Bodies above which each is drawn with few faces."""


def portrait_of(scene: Scene, without: Collection[AbstractConstraint] = ()) -> ScenePortrait:
    """What `scene` looks like. Rods, rigid bodies, zones and pearls have the role "body"; what shows constraints,
    loads, cables and sheaves "tie"; obstacles "obstacle"; decoration, and obstacles without an end, "decor".

    The subjects of its parts are the bodies, constraints, sheaves, loads, obstacles and `Decor`s themselves. Its parts
    stay those that were there when it was made (see `ScenePortrait.current`): what is removed from the scene is hidden.
    Constraints in `without` are left out.
    """
    return ScenePortrait(scene, without)


class ScenePortrait(Portrait):
    """The portrait of a scene; made by `portrait_of`. What draws bodies and constraints adds its parts here."""

    def __init__(self, scene: Scene, without: Collection[AbstractConstraint] = ()) -> None:
        self.scene = scene
        ties = [tie for tie in scene.constraints if tie not in without]
        rods = rods_in(scene)
        spline = [rod for rod in rods if rod.model == "spline"]
        cables: list[Any] = [tie for tie in ties if tie.entries]
        self.counts = dict(zip(rods, station_counts(rods), strict=True))
        """How many stations each rod is drawn with."""
        self.now = SceneNow(scene, spline, [self.counts[rod] for rod in spline], cables)
        """Where everything is when a frame is captured."""
        super().__init__(self.now.read)
        self.crowded = len(scene.bodies) > CROWD
        """Whether bodies are drawn with few faces, because there are very many."""
        self._names: dict[str, int] = {}
        self._tones: dict[tuple[Colour, ...], Iterator[Colour]] = {}
        self._contents = _contents(scene)
        self._tubes: list[int] = []
        """Numbers of the parts that are spline rods."""
        self._rigid: list[int] = []
        """Numbers of the parts that are rigid bodies."""
        self._carried: list[tuple[int, int, Callable[[], bool] | None]] = []
        """Of parts that move with points: their numbers, those of what carries them, and whether they are shown."""
        self._system: Any = None
        self.room, self.size = scene_box(scene), scene_size(scene)
        """Corners (3,), m, of the box round bodies and what holds them when the portrait was made, and its diagonal."""
        self.pins = Counter(rod for tie in ties if (rod := pinned_rod(tie)) is not None)
        """How many pins and hands hold each rod."""
        self.sheaves: set[Sheave] = set()
        """Those that are drawn already."""
        instead = {decor.on.body for decor in scene.decor if decor.instead and decor.on is not None}
        instead |= {body for tie in scene.constraints for body in shown_by(tie)}
        for body in scene.bodies:
            if body not in instead:
                draw_body(body, self)
        for cable in cables:
            draw_cable(cable, self)
        for constraint in ties:
            draw_tie(constraint, self)
        for obstacle in scene.obstacles:
            draw_obstacle(obstacle, self)
        for load in scene.loads:
            self.add(*arrow_part(load, self.now, self.size, self.named(load.name)), load)
        for decor in scene.decor:
            self._add_decor(decor)

    @property
    def current(self) -> bool:
        """Whether the scene still holds what it held when the portrait was made, as thick, and nothing else."""
        return self._contents == _contents(self.scene)

    def named(self, name: str) -> str:
        """`name`, with a number behind it if it is taken."""
        number = self._names[name] = self._names.get(name, 0) + 1
        return name if number == 1 else self.named(f"{name} ({number})")

    def next_colour(self, tones: tuple[Colour, ...]) -> Colour:
        """The next one of some colours, which go round."""
        return next(self._tones.setdefault(tones, colours.cycle(tones)))

    def add_carried(
        self, part: Solid, thing: Carried, subject: Any, shown: Callable[[], bool] | None = None
    ) -> None:  # fmt: skip
        """Add a solid that moves with points; it is hidden while `shown` says False and once it left the scene."""
        now = self.now
        self._carried.append((len(self._parts), now.carry(thing), shown))
        self.add(part, None, subject)

    def add_rigid(self, part: Solid, body: RigidBody) -> None:
        """Add a solid that is a rigid body; it is hidden once that left the scene."""
        self._rigid.append(len(self._parts))
        self.add(part, None, body)

    def add_rod(self, part: Tube, rod: Rod) -> None:
        """Add a tube that is a spline rod; it is hidden once that left the scene."""
        self._tubes.append(len(self._parts))
        self.add(part, None, rod)

    def fill(self, frame: FloatArray) -> None:
        """Place rods, rigid bodies and what moves with points: in bulk, as there may be ten thousand."""
        if self._system is not self.now.system:
            self._bind()
            self._bind_rods()
        if len(self._tube_rows):
            stations = self.now.stations
            for name, at in self._tube_at.items():
                frame[at] = getattr(stations, name)[self._tube_rows].ravel()
        put = _put_solids
        put(frame, self._rigid_at, 1.0, self.now.centres[self._rigid_rows], self.now.attitudes[self._rigid_rows])
        seen = self._carried_held.copy()
        for k, shown in self._hiding:
            seen[k] = seen[k] and shown()
        numbers = self._carried_numbers
        put(frame, self._carried_at, seen, self.now.positions[numbers], self.now.quaternions[numbers])

    def _bind(self) -> None:
        """Find where what is placed in bulk stands, in the frame and in the tables of the scene as it is now."""
        now, starts = self.now, np.array(self.cast.offsets, np.int64)
        assert now.system is not None
        rows = {body: i for i, body in enumerate(now.system.layout.of_kind(RigidBody))}
        there = [k for k in self._rigid if self._subjects[k] in rows]
        gone = starts[[k for k in self._rigid if self._subjects[k] not in rows]]
        _put_solids(self._frame, gone, 0.0, np.zeros(3), np.array((1.0, 0.0, 0.0, 0.0)))
        self._rigid_at = starts[there]
        self._rigid_rows = np.array([rows[self._subjects[k]] for k in there], np.int64)
        self._carried_at = starts[[k for k, _, _ in self._carried]]
        self._carried_numbers = np.array([number for _, number, _ in self._carried], np.int64)
        self._carried_held = np.array([now.holds(self._subjects[k]) for k, _, _ in self._carried], bool)
        self._hiding = [(i, shown) for i, (_, _, shown) in enumerate(self._carried) if shown is not None]
        self._system = now.system

    def _bind_rods(self) -> None:
        """Find where the numbers of rods stand in the frame, and their stations."""
        slices, cast = self.now.slices, self.cast
        rows: list[Any] = []
        at: dict[str, list[Any]] = {name: [] for name in ("centres", "directors", *ROD_FIELDS)}
        for k in self._tubes:
            start, count, where = cast.offsets[k], cast.parts[k].count, slices.get(self._subjects[k])
            self._frame[start] = float(where is not None)
            if where is None:
                continue
            rows.append(np.arange(where.start, where.stop))
            begin = start + 1
            for name, places in at.items():
                size = 3 * count if name in ("centres", "directors") else count
                places.append(np.arange(begin, begin + size))
                begin += size
        self._tube_rows = np.concatenate(rows) if rows else np.zeros(0, np.int64)
        self._tube_at = {name: np.concatenate(places) for name, places in at.items()} if rows else {}

    def _add_decor(self, decor: Decor) -> None:
        body = decor.on.body if decor.instead and decor.on is not None else None
        part = Solid(
            name=self.named(decor.name), colour=decor.colour, role="body" if body else "decor", opacity=decor.opacity,
            vertices=decor.vertices, faces=decor.faces, face_colours=decor.face_colours, smooth=decor.smooth,
            rough=0.7,
        )  # fmt: skip
        now = self.now
        number = now.carry(Carried(decor.on, decor.on))

        def read(view: SolidView) -> None:
            view.position[:], view.quaternion[:] = now.positions[number], now.quaternions[number]
            if not decor.shown or (body is not None and not now.holds(body)):
                view.shown[0] = 0.0

        self.add(part, read, decor if body is None else body)


def _put_solids(frame: FloatArray, at: Any, shown: Any, places: FloatArray, turns: FloatArray) -> None:
    """Fill the blocks of solids that begin at `at`, (k,)."""
    if len(at):
        frame[at] = shown
        frame[at[:, None] + np.arange(1, 4)] = places
        frame[at[:, None] + np.arange(4, 8)] = turns


def _contents(scene: Scene) -> tuple[Any, ...]:
    # what changes while they stay, and where they are cut
    made = [(*r._looks(), r.length, r.closed) for r in rods_in(scene)]
    return scene.bodies, scene.constraints, scene.loads, scene.obstacles, scene.decor, made
