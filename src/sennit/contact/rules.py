"""Which things touch, and how they resist each other: rules in the order in which they were given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from sennit.bodies.body import AbstractBody
from sennit.bodies.slider.slider import Slider
from sennit.bodies.zone.places import ZonePlaces
from sennit.bodies.zone.skin import faces_of_skin, fill_faces
from sennit.contact.obstacle import Obstacle
from sennit.contact.table import (
    Colliders,
    Laws,
    Manifold,
    ObstacleRows,
    RodColliders,
    RodSearch,
    ShapeColliders,
    SkinFaces,
    SkinFans,
    Skins,
    Sleeves,
    SoftColliders,
    Ties,
    TouchState,
)
from sennit.errors import InputError
from sennit.geometry.tables import NO_HEIGHTS, NO_TREE, NO_TUBES, ShapeTable, stacked
from sennit.tables import Table
from sennit.validation import quoted

__all__ = ["Law", "Rule", "Rules", "touched_on_faces", "write_laws"]

MANIFOLD = 64
"""Points of a pair of shapes that are found before they are thinned out."""
TIED = 4.0
"""Radii of a rod from a place where a constraint ties it, within which it does not touch what it is tied to."""


@dataclass(frozen=True)
class Law:
    """How two things resist each other where they touch; None: as the scene's own."""

    friction: float | None = None
    static_friction: float | None = None
    restitution: float | None = None
    margin: float | None = None
    rolling_friction: float | None = None
    twisting_friction: float | None = None

    def over(self, other: Law) -> Law:
        """This law, and where it says nothing the other one; with friction of its own, static friction is so, too."""
        if self.friction is not None:
            other = replace(other, static_friction=None)
        return replace(other, **{n: x for n in _NUMBERS if (x := getattr(self, n)) is not None})

    def numbers(self) -> tuple[float, ...]:
        """All of it, in the order of `Laws`; static friction is never below that of sliding."""
        values = {name: getattr(self, name) or 0.0 for name in _NUMBERS}
        if self.static_friction is None or self.static_friction < values["friction"]:
            values["static_friction"] = values["friction"]
        return tuple(values[name] for name in _NUMBERS)


_NUMBERS = tuple(one.name for one in fields(Law))


@dataclass(eq=False)
class Rule:
    """What holds between any of `first` and any of `second` (None: anything) from now on; a law of None: they pass
    through each other.
    """

    first: tuple[Any, ...] | None
    second: tuple[Any, ...] | None
    law: Law | None
    itself: bool
    """Whether it holds for things with themselves, too, or (with `first` alone) for that alone."""
    names_both: bool | None = None
    """Whether it was given for one pair: then it holds where a constraint ties them, too. That stays so when one of
    them is cut. None: as its sides say.
    """

    _ids: tuple[frozenset[int] | None, ...] | None = field(default=None, init=False, repr=False)
    """Identities of both sides: lists of hundreds are not gone through for each pair. Copies find their own."""

    def __post_init__(self) -> None:
        if self.names_both is None:
            self.names_both = all(side is not None and len(side) == 1 for side in (self.first, self.second))

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_ids": None}

    @property
    def sides(self) -> tuple[Any, ...]:
        """What is on either side, and whether these are one pair: what changes when a rod is cut."""
        return self.first, self.second, self.names_both

    def put_sides(self, sides: tuple[Any, ...]) -> None:
        """Put back what `sides` told."""
        (self.first, self.second, self.names_both), self._ids = sides, None

    def fits(self, a: Any, b: Any) -> bool:
        """Whether it speaks of this pair."""
        if a is b:
            return self.itself and self.faces(a, a)
        return not self.alone and (self.faces(a, b) or self.faces(b, a))

    def faces(self, a: Any, b: Any) -> bool:
        """Whether the one is on its first side and the other on its second."""
        if self._ids is None:
            self._ids = tuple(None if side is None else frozenset(map(id, side)) for side in (self.first, self.second))
        first, second = self._ids
        return (first is None or id(a) in first) and (second is None or id(b) in second)

    @property
    def alone(self) -> bool:
        """Whether it speaks of things with themselves alone."""
        return self.itself and self.first is not None and self.second is None

    def enter(self, number: int, places: dict[int, int], square: Any) -> None:
        """Write its number at all pairs (n, n) that it speaks of, things standing at their `places` by identity."""
        sides: list[Any] = [
            slice(None) if side is None else np.array(sorted(places[id(x)] for x in side if id(x) in places), np.int64)
            for side in (self.first, self.second)
        ]
        first, second = sides
        own = square.diagonal().copy()
        if not self.alone:
            for rows, columns in ((first, second), (second, first)):
                if isinstance(rows, slice) or isinstance(columns, slice):
                    square[rows, columns] = number
                else:
                    square[np.ix_(rows, columns)] = number
        if self.itself:
            both = np.zeros((2, len(square)), bool)
            both[0, first] = both[1, second] = True
            own[both.all(axis=0)] = number
        np.fill_diagonal(square, own)

    def hold_for_pieces(self, whole: Any, pieces: Sequence[Any]) -> None:
        """Hold for the other pieces of a rod that was cut, too, and between them where it held for the rod itself."""
        first, second = (_with_pieces(side, whole, pieces) for side in (self.first, self.second))
        if self.itself and self.first is not None and self.second is None and _is_among(whole, self.first):
            second = first
        self.put_sides((first, second, self.names_both))


def _with_pieces(side: tuple[Any, ...] | None, whole: Any, pieces: Sequence[Any]) -> tuple[Any, ...] | None:
    return side if side is None or not _is_among(whole, side) else (*side, *pieces)


def _is_among(thing: Any, things: tuple[Any, ...] | None) -> bool:
    return things is None or any(thing is one for one in things)


class Rules:
    """All rules of a scene."""

    def __init__(self) -> None:
        self.default = Law(friction=0.3, restitution=0.0, margin=0.0)
        """What holds where a rule does not say otherwise."""
        self.rules: list[Rule] = []

    def between(self, a: Any, b: Any, tied: bool) -> Law | None:
        """The law between two things, None if they pass through each other."""
        found: Law | None = None
        for tube, other in ((a, b), (b, a)):
            if (held := getattr(tube, "_inner", None)) is not None:
                if _rod_of(other) is not held:
                    return None
                tied = True  # what holds for everything does not hold for tubes
                if other is not held:  # a pearl on the rod: as the rod, where nothing else was said of it
                    found = self.between(tube, held, tied)
        for rule in self.rules:
            if rule.fits(a, b) and (not tied or rule.law is None or rule.names_both):
                found = None if rule.law is None else rule.law.over(self.default)
        return found

    def fill(self, colliders: Sequence[Any], tied: set[frozenset[int]], square: Any, sleeves: Any) -> list[Law]:
        """Write the number of the law between any two colliders, and of rods in rods; returns the laws, from 1 on."""
        known: dict[tuple[float, ...], int] = {}
        laws: list[Law] = []

        def number_of(law: Law | None) -> int:
            if law is None:
                return 0
            key = law.numbers()
            if key not in known:
                known[key] = len(known) + 1
                laws.append(law)
            return known[key]

        # All pairs at once by the rules' numbers; what ties, tubes and pearls say of them by hand.
        places = {id(thing): i for i, thing in enumerate(colliders)}
        chosen = np.full((len(colliders), len(colliders)), -1, np.int32)
        for number, rule in enumerate(self.rules):
            rule.enter(number, places, chosen)
        used = np.bincount(chosen.ravel() + 1, minlength=len(self.rules) + 1) > 0
        numbers = np.zeros(len(used), square.dtype)
        for number, rule in enumerate(self.rules, 1):
            if used[number] and rule.law is not None:
                numbers[number] = number_of(rule.law.over(self.default))
        square[:] = numbers[chosen + 1]
        alone = [i for i, thing in enumerate(colliders) if _can_not_meet(thing, thing)]
        square[alone, alone] = 0
        for i, j in self._judged(colliders, tied):
            a, b = colliders[i], colliders[j]
            law = None if _can_not_meet(a, b) else self.between(a, b, frozenset((i, j)) in tied)
            square[i, j] = square[j, i] = number_of(law)
        within = {frozenset((id(tube._inner), id(tube._outer))) for tube, _ in sleeves}
        for pair in within:
            if all(thing in places for thing in pair):
                i, j = (places[thing] for thing in (*pair, *pair)[:2])
                square[i, j] = square[j, i] = 0
        for i, j in _sharing_rods(colliders):
            square[i, j] = square[j, i] = 0
        for tube, row in sleeves:
            row.law[0] = number_of(self.between(tube._inner, tube, tied=True))
        return laws

    def _judged(self, colliders: Sequence[Any], tied: set[frozenset[int]]) -> Iterator[tuple[int, int]]:
        """Pairs for which what the last rule says does not hold by itself: those that are tied, and those of tubes."""
        for pair in tied:
            i, j = (*pair, *pair)[:2]
            yield i, j
        for i, thing in enumerate(colliders):
            if getattr(thing, "_inner", None) is not None:
                for j in range(len(colliders)):
                    yield i, j

    def tables(self, layout: Any) -> tuple[list[Any], set[frozenset[int]], list[Any], dict[str, Table]]:
        """What can touch, pairs of which constraints tie, tubes that are rods with their rows, and the tables of it, by
        their names in `Touch`.
        """
        rods = [body for body in layout.bodies if _touches_itself(body)]
        solids = [thing for thing in (*layout.bodies, *layout.obstacles) if _shapes_of(thing)]
        zones = [body for body in layout.bodies if _is_soft(body)]
        things: list[Any] = [*rods, *solids, *zones]
        number = {id(thing): i for i, thing in enumerate(things)}
        ties, tied = _ties(layout, number)
        colliders = Colliders(rows=len(things))
        tubes = [thing for thing in layout.obstacles if thing._outer is not None]
        held = Sleeves(rows=len(tubes))
        sleeves = [(tube, held.part(i, i + 1)) for i, tube in enumerate(tubes)]
        laws = self.fill(things, tied, colliders.law, sleeves)
        # Rules that say the same now may be told to say other things.
        table = Laws(rows=1 + max(len(laws), sum(rule.law is not None for rule in self.rules)))
        write_laws(table, laws)
        model: Any = layout.tables
        skins, faces, fans, soft = skin_tables(things, colliders.law)
        sides = {}
        for kind in ("splines", "discretes"):
            sides[kind] = RodColliders(rows=len(model[kind].rods))
            for rod in rods:
                if rod._home_table() == kind:
                    sides[kind].collider[rod._index] = number[id(rod)]
        rows = ObstacleRows(rows=len(layout.obstacles))
        for i, obstacle in enumerate(layout.obstacles):
            obstacle._enter(rows, i)
        search = RodSearch.over(model["splines"], model["discretes"])
        first = {"splines": 0, "discretes": len(model["splines"].rods)}
        for tube, row in sleeves:
            row.inner[0], row.outer[0] = (first[rod._home_table()] + rod._index for rod in tube._rods())
            row.bore[0] = tube.radius
        return things, tied, sleeves, {
            "laws": table, "colliders": colliders, "sleeves": held, "ties": ties, "search": search,
            "shapes": _shape_table(solids, layout.obstacles, number), "obstacles": rows,
            "soft": soft, "skins": skins, "faces": faces, "fans": fans,
            "manifold": Manifold(rows=MANIFOLD), "state": TouchState(rows=1), **sides,
        }  # fmt: skip


def write_laws(table: Laws, laws: Sequence[Law]) -> None:
    """Fill the table of laws."""
    for array in table.fields().values():
        array[:] = 0.0
    for k, law in enumerate(laws, 1):
        for name, value in zip(_NUMBERS, law.numbers(), strict=True):
            getattr(table, name)[k] = value


def _touches_itself(thing: Any) -> bool:
    """Whether it is a rod."""
    return isinstance(thing, AbstractBody) and thing._home_table() in ("splines", "discretes")


def _is_soft(thing: Any) -> bool:
    """Whether it is a zone that can be touched."""
    return isinstance(thing, ZonePlaces) and thing._can_be_touched()


def _can_not_meet(a: Any, b: Any) -> bool:
    """Whether there are no contacts between two things: only rods touch themselves."""
    return a is b and not _touches_itself(a)


def _rod_of(thing: Any) -> Any:
    """The rod that a pearl sits on; of other things themselves."""
    return thing.rod if isinstance(thing, Slider) else thing


def _sharing_rods(things: Sequence[Any]) -> Iterator[tuple[int, int]]:
    """Pairs of a pearl and its rod, or of pearls on one rod: these keep apart by rows of their own."""
    riders: dict[int, list[int]] = {}
    for i, thing in enumerate(things):
        if isinstance(thing, Slider):
            riders.setdefault(id(thing.rod), []).append(i)
    for i, thing in enumerate(things):
        for j in riders.get(id(_rod_of(thing)), ()):
            if i != j:
                yield i, j


def _shapes_of(thing: Any) -> tuple[Any, ...]:
    return tuple(getattr(thing, "shapes", ()))


def _shape_table(solids: Sequence[Any], obstacles: Sequence[Any], number: dict[int, int]) -> ShapeColliders:
    """The shapes of bodies and obstacles, in the frames of what carries them."""
    owned = [(thing, shape) for thing in solids for shape in _shapes_of(thing)]
    inner = stacked([shape._table for _, shape in owned]) if owned else ShapeTable(
        rows=0, tree=NO_TREE, heights=NO_HEIGHTS, tubes=NO_TUBES
    )  # fmt: skip
    made = ShapeColliders(rows=len(owned), shapes=inner)
    made.rigid[:] = made.slider[:] = made.obstacle[:] = -1
    for s, (thing, shape) in enumerate(owned):
        made.collider[s] = number[id(thing)]
        if isinstance(thing, AbstractBody):
            own: Any = made.slider if isinstance(thing, Slider) else made.rigid
            own[s] = thing._index
        else:
            made.obstacle[s] = obstacles.index(thing)
        made.place[s], made.turn[s] = shape.pose.position, shape.pose.rotation
    return made


def touched_on_faces(things: Sequence[Any], law: Any) -> list[bool]:
    """Of each of some things whether it is a zone that rods or other zones may touch."""
    return [
        _is_soft(thing)
        and any(law[i, j] and (_is_soft(other) or _touches_itself(other)) for j, other in enumerate(things))
        for i, thing in enumerate(things)
    ]


def skin_tables(things: Sequence[Any], law: Any) -> tuple[Skins, SkinFaces, SkinFans, SoftColliders]:
    """The vertices of zones that may be touched in the next step, the faces between them, their fans, and the zones."""
    zones = [(i, thing) for i, thing in enumerate(things) if _is_soft(thing)]
    on_faces = touched_on_faces(things, law)
    found = [faces_of_skin(zone) if on_faces[i] else np.zeros(0, np.int64) for i, zone in zones]
    skins = Skins(rows=sum(len(zone._skin.held) for _, zone in zones))
    faces, soft = SkinFaces(rows=sum(map(len, found))), SoftColliders(rows=len(zones))
    begin = at = fans = 0
    for row, ((i, zone), own) in enumerate(zip(zones, found, strict=True)):
        part, flat = skins.part(begin, begin + len(zone._skin.held)), faces.part(at, at + len(own))
        zone._fill_skin(part)
        if len(own):
            fans += fill_faces(flat, zone, own, begin, at, fans)
        part.collider[:], part.soft[:], flat.soft[:] = i, row, row
        soft.collider[row], soft.zone[row], soft.grain[row] = i, zone._index, zone._edges.mean()
        soft.first_face[row], soft.faces[row] = at, len(own)
        begin, at = begin + len(part), at + len(own)
    return skins, faces, SkinFans(rows=fans), soft


def _ties(layout: Any, number: dict[int, int]) -> tuple[Ties, set[frozenset[int]]]:
    """Places where constraints tie colliders, and the pairs of solids that are tied."""
    found: list[tuple[int, int, float, float, float]] = []
    tied: set[frozenset[int]] = set()
    for constraint in layout.constraints:
        points = [p for p in constraint.points if p.body is not None and id(p.body) in number]
        own = [constraint, *constraint._companions()]
        met = {id(_rod_of(p.body)): _rod_of(p.body) for one in own for p in one.points if p.body is not None}
        for zone in filter(_is_soft, met.values()):  # a thread that is sewn through tissue runs inside of it
            tied.update(frozenset((number[id(zone)], number[id(x)])) for x in met.values() if _touches_itself(x))
        for i, p in enumerate(points):
            for q in points[:i]:
                if p.body is q.body:
                    continue
                a, b = number[id(p.body)], number[id(q.body)]
                rods = [x for x in (p, q) if _touches_itself(x.body)]
                if not rods:
                    tied.add(frozenset((a, b)))
                    continue
                reach = TIED * max(x.body.radius for x in rods)
                found.append((a, b, getattr(p, "_u", 0.0), getattr(q, "_u", 0.0), reach))
    sides: dict[int, tuple[Any, float]] = {}
    for rod in filter(_touches_itself, layout.bodies):  # what was cut through begins where it overlaps
        for cut, u in zip(rod._ends, (0.0, float(rod.tables.spans)), strict=True):
            if cut in sides:
                other, v = sides.pop(cut)
                found.append((number[id(other)], number[id(rod)], v, u, TIED * rod.radius))
            elif cut:
                sides[cut] = rod, u
    for zone in layout.bodies:
        if _is_soft(zone):  # it does not touch what carries it, nor another zone of that
            riding = [other for other in layout.bodies if _is_soft(other) and other.on.body is zone.on.body]
            for other in [zone.on.body, *riding]:
                if id(other) in number and other is not zone:
                    tied.add(frozenset((number[id(zone)], number[id(other)])))
    ties = Ties(rows=len(found))
    for k, (a, b, u, v, reach) in enumerate(found):
        ties.first[k], ties.second[k], ties.first_at[k], ties.second_at[k], ties.reach[k] = a, b, u, v, reach
    return ties, tied


def checked(given: Any, scene: Any, word: str) -> tuple[Any, ...] | None:
    """One or several things of the scene that can touch; None: anything."""
    if given is None:
        return None
    if isinstance(given, list | tuple | set | frozenset):
        if not given:
            raise InputError(f"{word} got no things at all: {quoted(given)}")
        return tuple(dict.fromkeys(checked_thing(thing, scene, word) for thing in given))
    return (checked_thing(given, scene, word),)


def checked_thing(thing: Any, scene: Any, word: str) -> Any:
    """A thing of the scene that can touch."""
    if not isinstance(thing, AbstractBody | Obstacle):
        raise InputError(f"{word} takes bodies and obstacles of this scene, got {quoted(thing)}")
    if thing._scene is not scene:
        raise InputError(f"{word} needs {thing.name}, which is not in this scene: add it first")
    soft = isinstance(thing, ZonePlaces)
    if soft and not _is_soft(thing):
        raise InputError(
            f"nothing holds {thing.name}, and it would not resist what touches it: give fixed=... when it is made"
        )
    if not (soft or _touches_itself(thing) or _shapes_of(thing) or getattr(thing, "_outer", None) is not None):
        raise InputError(
            f"{thing.name} has no surface: rods, obstacles, rigid bodies with a shape (RigidBody.from_inertia takes "
            "shape=), zones and pearls that are wider than their rods can touch"
        )
    return thing
