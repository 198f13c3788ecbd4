"""Numbers of things in the tables of contact, from those that files and other scenes know them by, and back."""

from __future__ import annotations

from typing import Any

from sennit.bodies.kernels.points import DISCRETE, RIGID, SLIDER, SPLINE, WORLD, ZONE
from sennit.bodies.rod.kernels.point import SLIDE
from sennit.contact.kernels.rows import SIDE

__all__ = ["Numbering"]


class Numbering:
    """How the tables of contact number things, shapes and degrees of freedom."""

    def __init__(self, given: Any, model: Any) -> None:
        self._rods = {SPLINE: model["splines"].rods, DISCRETE: model["discretes"].rods}
        self._rigids, self._sliders, shapes = model["rigids"], model["sliders"], given["shapes"]
        self._total = len(shapes)
        count = len(given["colliders"])
        self.sides: list[tuple[int, int]] = [(WORLD, -1)] * count
        """Of each thing, kind and number among bodies of that kind."""
        for kind, own in ((SPLINE, given["splines"]), (DISCRETE, given["discretes"])):
            for row, collider in enumerate(own.collider.tolist()):
                self.sides[collider] = kind, row
        self._first, self._shapes = [0] * count, [0] * count
        skins = given["skins"]
        self._skins = {pair: i for i, pair in enumerate(zip(skins.zone.tolist(), skins.vertex.tolist(), strict=True))}
        """Rows of vertices of zones."""
        faces = given["faces"]
        zones = given["soft"].zone[faces.soft].tolist()
        self._faces = dict(zip(zip(zones, faces.face.tolist(), strict=True), faces.corner.tolist(), strict=True))
        """Corners of faces of zones, as rows of vertices; -1: fixed."""
        self._skin_dof, self._carrier = skins.dof.tolist(), skins.carrier.tolist()
        for collider, zone in zip(given["soft"].collider.tolist(), given["soft"].zone.tolist(), strict=True):
            self.sides[collider], self._shapes[collider] = (ZONE, zone), 1
        carried = shapes.collider.tolist(), shapes.rigid.tolist(), shapes.slider.tolist()
        for s, (collider, rigid, slider) in enumerate(zip(*carried, strict=True)):
            if not self._shapes[collider]:
                self._first[collider] = s
            self._shapes[collider] += 1
            if rigid >= 0:
                self.sides[collider] = RIGID, rigid
            elif slider >= 0:
                self.sides[collider] = SLIDER, slider
        self.numbers = {side: number for number, side in enumerate(self.sides)} | {(WORLD, -1): -1}
        """Of a kind and a number, the thing; of the world -1."""

    def parts(self, first: int, second: int, feature: int) -> tuple[int, int]:
        """Which parts of two things the second feature of a contact speaks of (`Contacts`)."""
        if self.sides[first][0] in (*self._rods, ZONE):
            return 0, feature if self.sides[second][0] in self._rods else feature - self._first[second]
        a, b = divmod(feature, self._total)
        return a - self._first[first], b - self._first[second]

    def feature(self, first: int, second: int, first_part: int, second_part: int) -> int:
        """The second feature of a contact of such parts."""
        b = second_part if self.sides[second][0] in self._rods else self._first[second] + second_part
        return b if self.sides[first][0] in (*self._rods, ZONE) else self._total * (self._first[first] + first_part) + b

    def index(self, key: tuple[int, ...]) -> list[int]:
        """Degrees of freedom of both sides of a slot; -1: none."""
        if key[3] == ZONE:
            return [*self._dofs(*key[:3]), *self._dofs_of_face(key[4], key[5])]
        return [*self._dofs(*key[:3]), *self._dofs(*key[3:])]

    def _dofs_of_face(self, row: int, face: int) -> list[int]:
        """Those of the corners of a zone's face, and of what carries it."""
        corners = self._faces[row, face]
        found: list[int] = []
        for corner in corners:
            start = self._skin_dof[corner] if corner >= 0 else -1
            found += range(start, start + 3) if corner >= 0 else [-1] * 3
        found += self._six(self._carrier[corners[0]])
        return found + [-1] * (SIDE - len(found))

    def _dofs(self, kind: int, row: int, first: int) -> list[int]:
        found: list[int] = []
        if kind == SLIDER:
            return [*self._dofs(SPLINE, int(self._sliders.rod[row]), first)[:SLIDE], int(self._sliders.dof[row])]
        if kind in self._rods:
            rods = self._rods[kind]
            for i in range(4):
                start = int(rods.dof[row]) + 4 * ((first + i) % int(rods.count[row]))
                found += range(start, start + 4)
        elif kind == RIGID:
            found += self._six(row)
        elif kind == ZONE and (vertex := self._skins.get((row, first))) is not None:
            found += range(self._skin_dof[vertex], self._skin_dof[vertex] + 3)
            found += self._six(self._carrier[vertex])
        return found + [-1] * (SIDE - len(found))

    def _six(self, rigid: int) -> list[int]:
        """Degrees of freedom of a rigid body; -1: none."""
        first = int(self._rigids.dof[rigid]) if rigid >= 0 else -1
        return list(range(first, first + 6)) if rigid >= 0 else []

    def room_of(self, number: int) -> tuple[int, int, int]:
        """See `TouchingTables`."""
        kind, row = self.sides[number]
        last = 0
        if kind == SLIDER:
            last = int(self._rods[SPLINE].spans[self._sliders.rod[row]]) - 1
        elif kind in self._rods:
            rods = self._rods[kind]
            last = int(rods.spans[row]) - 1 if kind == SPLINE else int(rods.count[row]) - 4
        elif kind == ZONE:
            last = max((at for known in (self._skins, self._faces) for zone, at in known if zone == row), default=0)
        return kind, self._shapes[number], last

    def is_there(self, key: tuple[int, ...]) -> bool:
        """Whether a slot speaks of vertices, and of faces between vertices, that zones hold."""
        there = key[0] != ZONE or key[1:3] in self._skins
        return there and (key[3] != ZONE or key[4:6] in self._faces)
