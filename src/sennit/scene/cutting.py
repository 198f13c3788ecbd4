"""Cutting a rod of a scene: what hangs on it, slides on it and touches it stays where it was, on one of the pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sennit.bodies.slider.slider import Slider
from sennit.constraints.slide import SliderRows
from sennit.errors import InputError
from sennit.solve.report import Event

if TYPE_CHECKING:
    from sennit.bodies.rod.rod import Rod
    from sennit.scene.contents import Contents

__all__ = ["Seat", "cut_rod", "seats_of", "sit_again", "told"]


def cut_rod(scene: Contents, rod: Rod, begins: Sequence[tuple[int, int]]) -> list[Rod]:
    """Cut a rod into pieces, each from a span on and so many long; the first of them is the rod itself."""
    scene._check_free()
    _check(scene, rod, begins)
    scene._compiled()
    assert scene._system is not None
    spans, closed = rod._tables.spans, rod.closed
    points: dict[int, Any] = {id(p): p for p in scene._system.layout.points if p.body is rod}
    points |= {id(p): p for d in scene.decor if (p := d.on) is not None and p.body is rod}  # type: ignore[attr-defined]
    sliders: list[Slider] = [x for x in scene._bodies if isinstance(x, Slider) and x.rod is rod]
    at_point = {id(p): p._u for p in points.values()}
    at_slider = {id(x): min(max(float(x._motion.q[0]) * x._scale, 0.0), float(spans)) for x in sliders}

    rods = rod._cut(begins)
    for piece in rods[1:]:
        scene._take_in(piece)
    for point in points.values():
        k, u = _place(at_point[id(point)], begins, spans)
        # An end's is the length to the last bit: files refuse what lies beyond.
        point._sit((rods[k], min(float(rods[k]._s_at(u)[0]), rods[k].length)))
    for slider in sliders:
        k, u = _place(at_slider[id(slider)], begins, spans)
        slider._passed_to(rods[k], u)
        if slider in scene._slider_rows:  # its stops are the ends of another rod now
            scene._slider_rows[slider] = SliderRows(slider)
    for rule in scene._rules.rules:
        rule.hold_for_pieces(rod, rods[1:])
    scene._contacts = [] if closed else scene._contacts  # that of the last pearl with the first
    scene._released -= set(sliders)
    scene._changed(ties=False, places=False)
    for thing in (rod, *points.values(), *sliders):
        scene._beginnings.pop(id(thing), None)
    return rods


def _place(u: float, begins: Sequence[tuple[int, int]], spans: int) -> tuple[int, float]:
    """The piece on which parameter `u` of the whole is, and its parameter there; at the cut itself, the first."""
    for k, (begin, count) in enumerate(begins):
        there = u - begin if u >= begin else u - begin + spans
        if there <= count:
            return k, there
    return len(begins) - 1, float(begins[-1][1])


def _check(scene: Contents, rod: Rod, begins: Sequence[tuple[int, int]]) -> None:
    """Whether `rod` can be cut there."""
    tubes = [obstacle.name for obstacle in scene._obstacles if rod in obstacle._rods()]
    if tubes:
        raise InputError(f"{rod.name} can't be cut while it is in or around {', '.join(tubes)}: remove that first")
    knots = rod.knots
    for slider in scene._bodies:
        if isinstance(slider, Slider) and slider.rod is rod and (radius := slider._reach()) is not None:
            u = float(np.clip(slider._motion.q[0] * slider._scale, 0.0, rod._tables.spans))
            begin, count = begins[_place(u, begins, rod._tables.spans)[0]]
            length = rod.length if rod.closed else knots[begin + count] - knots[begin]
            if not 2.0 * radius < length:
                raise InputError(
                    f"{rod.name} can't be cut there: {slider.name}, of radius {radius:g} m, would be on a piece of "
                    f"{length:.3g} m"
                )


def told(rods: Sequence[Rod], time: float, kind: Literal["cut", "broken"] = "cut") -> Event:
    """The event of a cut, or of a rod that has broken; the pieces are its things."""
    first, done = rods[0], "was cut" if kind == "cut" else "has broken"
    rest = "and is open now" if len(rods) == 1 else f"at {first.length:.4g} m: the rest is {rods[1].name}"
    return Event(time, kind, tuple(rods), f"{first.name} {done}, {rest}".replace(", at", " at"))


@dataclass(frozen=True, eq=False)
class Seat:
    """Where a body or a point lies, or how long it is, in a state that can be gone back to."""

    thing: Any
    where: Any
    beginning: Any
    """What `reset` took then for its state; None: nothing was known."""

    @property
    def is_now(self) -> bool:
        """Whether it is still so."""
        now, then = self.thing._seat(), self.where
        if isinstance(now, tuple):
            return all(a is b or a == b for a, b in zip(now, then, strict=True))
        return now is then


def seats_of(scene: Contents) -> list[Seat]:
    """What lies on what, of all that a cut can put elsewhere."""
    scene._compiled()
    assert scene._system is not None
    things: list[Any] = [*scene._bodies, *scene._system.layout.points]
    seats = ((thing, thing._seat()) for thing in things)
    return [Seat(thing, seat, scene._beginnings.get(id(thing))) for thing, seat in seats if seat is not None]


def sit_again(scene: Contents, seats: Sequence[Seat]) -> bool:
    """Put everything where `seats_of` saw it. Returns whether anything was elsewhere."""
    moved = [seat for seat in seats if not seat.is_now]
    for seat in moved:  # rods come before what lies on them
        seat.thing._sit(seat.where)
        if seat.beginning is not None:
            scene._beginnings[id(seat.thing)] = seat.beginning
    return bool(moved)
