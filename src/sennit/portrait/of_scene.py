"""The portrait of a scene: what its bodies, constraints, loads and decoration look like, and where they are now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from typing import Any

from sennit.constraints.cable.sheave import Sheave
from sennit.constraints.constraint import AbstractConstraint
from sennit.controls import Decor
from sennit.portrait import colours
from sennit.portrait.bodies import draw_body
from sennit.portrait.cast import Portrait
from sennit.portrait.links import arrow_part
from sennit.portrait.marks import pinned_rod, shown_by
from sennit.portrait.now import Carried, SceneNow
from sennit.portrait.parts import Colour, Solid, SolidView
from sennit.portrait.rods import station_counts
from sennit.portrait.shapes import draw_obstacle
from sennit.portrait.sizes import rods_in, scene_box, scene_size
from sennit.portrait.ties import draw_cable, draw_tie
from sennit.scene.scene import Scene

__all__ = ["ScenePortrait", "portrait_of"]


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
        self._names: dict[str, int] = {}
        self._tones: dict[tuple[Colour, ...], Iterator[Colour]] = {}
        self._contents = _contents(scene)
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
        number = now.carry(thing)

        def read(view: SolidView) -> None:
            view.position[:], view.quaternion[:] = now.positions[number], now.quaternions[number]
            if not (now.holds(subject) and (shown is None or shown())):
                view.shown[0] = 0.0

        self.add(part, read, subject)

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


def _contents(scene: Scene) -> tuple[Any, ...]:
    # what changes while they stay, and where they are cut
    made = [(*r._looks(), r.length, r.closed) for r in rods_in(scene)]
    return scene.bodies, scene.constraints, scene.loads, scene.obstacles, scene.decor, made
