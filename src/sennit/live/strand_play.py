"""A quasi-static strand on a page: an instrument holds its tip, the mouse takes it anywhere, pins hold it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.bodies.strand.state import StrandState
from sennit.bodies.strand.strand import Strand
from sennit.controls import Dashboard
from sennit.coupling import VirtualCoupling
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.geometry.rotations import rotation_exp, rotation_log
from sennit.live.play import Handle, Place, Tie
from sennit.live.spells import Spell
from sennit.live.strand_picture import Hold, StrandPicture, drawn_radius
from sennit.portrait.cast import Portrait
from sennit.portrait.parts import Colour, Solid, SolidView
from sennit.validation import FloatArray

__all__ = ["Script", "StrandPlay", "rolled"]

Script = Callable[[float], tuple[Pose, float]]
"""Where the instrument is and how often it was turned about its axis, at a time (s)."""

_NEAR_BASE, _NEAR_TIP = 0.1, 0.96  # parts of the length: nearer to an end than that, the end is what is taken
_REACH = 0.97  # of the strand between two held points: a strand pulled straight needs infinite forces
_STRETCH = 1.03  # of the strand between a held point and the instrument, whose coupling gives way
_ITERATIONS = 40  # of a solve; a warm one takes 1 to 4, a snap 10 to 20
_FEWER = 12  # where the last one failed
_SLOWER, _FASTER, _SLOWEST = 0.3, 1.4, 0.01  # how the part of a motion changes that is tried


def rolled(turns: float) -> Pose:
    """A turn about d3, in whole turns."""
    return Pose((0.0, 0.0, 0.0), (math.cos(math.pi * turns), 0.0, 0.0, math.sin(math.pi * turns)))


class StrandPlay(Dashboard):
    """A strand whose base is held in place and whose tip an instrument holds by a virtual coupling.

    Each step is a solve that starts from the state before. The instrument goes to where it is asked to be (by `script`,
    by its gizmo, by the mouse) no faster than `speed` and `spin`, so that no turn is skipped. The mouse takes the
    instrument at its tip, and the strand itself anywhere else, which then goes where the hand is as far as the strand
    reaches. Where a solve does not converge the last good state stays, and `trouble` says so.

    Arguments:
        strand: what is seen; `replace` changes it.
        base, hand: poses of the first section and of the instrument at the beginning.
        coupling: between the instrument and the tip; without dampers.
        gravity: (3,), m/s².
        dt: a step, s.
        speed, spin: largest speed (m/s) and turning speed (turns/s) of the instrument.
        radius: with which the strand is drawn, m; by default its own.
        script: what the instrument does until it is touched.
        after_step: called after each step and reset, and when the script stops: keeps the values of controls up to
            date.
    """

    def __init__(
        self,
        strand: Strand,
        *,
        base: Pose,
        hand: Pose,
        coupling: VirtualCoupling,
        gravity: ArrayLike = (0.0, 0.0, -9.81),
        dt: float = 0.01,
        speed: float = 0.4,
        spin: float = 1.0,
        radius: float | None = None,
        colour: Colour = (34, 88, 178),
        stripe: Colour = (255, 226, 140),
        script: Script | None = None,
        after_step: Callable[[], object] | None = None,
        title: str = "A strand",
        camera: tuple[FloatArray, FloatArray] | None = None,
        ground: float | None = None,
    ) -> None:
        super().__init__()
        if coupling.damped:
            raise InputError("coupling must have no dampers: the strand is at rest in each step")
        self.title, self.dt, self.camera, self.ground = title, dt, camera, ground
        self.time_scale = 1.0
        self.speed, self.spin = speed, spin
        self.strand, self.base, self.coupling, self.script = strand, base, coupling, script
        self._gravity = validation.vector("gravity", gravity)
        self._picture = StrandPicture(drawn_radius(strand, radius), colour, stripe)
        self._portrait: Portrait | None = None
        self._beginning = (strand, self._gravity.copy(), hand)
        self._first: StrandState | None = None
        self.after_step = after_step
        self._begin()

    def _begin(self) -> None:
        self.strand, gravity, hand = self._beginning
        self._gravity = gravity.copy()
        self._time, self._clock = 0.0, 0.0
        self.scripted = self.script is not None
        turns = 0.0
        if self.script is not None:
            hand, turns = self.script(0.0)
        self._asked, self._asked_turns = hand, turns
        self._frame, self._turns = hand, turns
        self._pins: list[Hold] = []
        self._pinned = 0
        self._taken: Hold | None = None
        self._lever: FloatArray | None = None  # what the mouse has of the instrument: from where that is, and
        self._offset = np.zeros(3)  # from the tip, which gives way a little
        self._wanted = np.zeros(3)
        self._share = 1.0
        self.trouble = ""
        """Why the strand does not follow; empty while it does."""
        if self._first is None:
            self._first = self.strand.solve(
                base=self.base, coupling=self.coupling, hand=self.hand, gravity=self._gravity
            )
        self.state = self._first
        """The equilibrium that is seen."""

    # --------------------------------------------------------------------------------------------------- what is read

    @property
    def spell(self) -> Spell | None:
        """None: it has no steps in time."""
        return None

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return self._time

    @property
    def hand(self) -> Pose:
        """Where the instrument is."""
        return self._frame @ rolled(self._turns)

    @property
    def turns(self) -> float:
        """How often the instrument was turned about its axis."""
        return self._turns

    @property
    def gravity(self) -> FloatArray | None:
        """Acceleration of free fall, (3,), m/s²."""
        return self._gravity.copy()

    @property
    def holding(self) -> bool:
        """Whether something is grabbed."""
        return self._taken is not None or self._lever is not None

    @property
    def grip(self) -> tuple[FloatArray, FloatArray]:
        """Where the hand is, and where the place that it holds is: (3,) each, m."""
        if self._taken is not None:
            return self._wanted.copy(), self._place_at(self._taken.s)
        assert self._lever is not None
        return self._asked.position + self._lever, self.state.tip_pose.position + self._offset

    @property
    def handles(self) -> Sequence[Handle]:
        """The instrument."""
        return (Handle("instrument", True, lambda: self._asked @ rolled(self._asked_turns), self.move_hand),)

    @property
    def ties(self) -> Sequence[Tie]:
        """The pins."""
        first = 1 + len(self._picture.solids)
        return [Tie(pin.name, "pin", pin.enabled, (first + k,)) for k, pin in enumerate(self._pins)]

    # ------------------------------------------------------------------------------------------------- what is changed

    def add_solid(self, part: Solid, read: Callable[[SolidView], None], *, takes_hand: bool = False) -> None:
        """Add something to the picture; ``takes_hand``: dragging it drags the instrument."""
        self._picture.solids.append((part, read, takes_hand))
        self._portrait = None

    def replace(self, strand: Strand) -> None:
        """Go on with another `strand` of the same length, from the present shape."""
        if strand.length != self.strand.length:
            raise InputError(f"the strand must be {self.strand.length:g} m long as before, got {strand.length:g}")
        self.strand = strand

    def take_over(self) -> None:
        """Stop the script: the instrument stays where it is."""
        if self.scripted:
            self.scripted = False
            self._asked, self._asked_turns = self._frame, self._turns
            if self.after_step is not None:
                self.after_step()

    def resume(self) -> None:
        """Go on with the script, from where it was stopped."""
        self.scripted = self.script is not None

    def turn_to(self, turns: float) -> None:
        """Ask for `turns` of the instrument about its axis."""
        self.take_over()
        self._asked_turns = turns

    def move_hand(self, pose: Pose) -> None:
        """Ask for a pose of the instrument."""
        self.take_over()
        self._asked = pose @ rolled(-self._asked_turns)

    def set_gravity(self, value: FloatArray) -> None:
        """Change the gravity, (3,), m/s²."""
        self._gravity = validation.vector("gravity", value)

    def reset(self) -> None:
        """Begin again."""
        changed = bool(self._pins)
        self._reset_controls()
        self._begin()
        self._begin_again()
        if changed:
            self._portrait = None
        if self.after_step is not None:
            self.after_step()

    # --------------------------------------------------------------------------------------------------------- in time

    def step(self) -> None:
        """Move the instrument, and what the mouse holds, by what `dt` allows; solve."""
        self._time += self.dt
        if self.scripted and self.script is not None:
            self._clock += self.dt
            self._asked, self._asked_turns = self.script(self._clock)
        self._advance()
        if self.after_step is not None:
            self.after_step()

    def _advance(self) -> None:
        """Go as far as a step allows; less far after steps that found nothing, until the strand follows again."""
        share = self._share
        far, turn = share * self.speed * self.dt, share * self.spin * self.dt
        place = None if self._taken is None else self._next_place(far)
        frame = _towards(self._frame, self._asked, far, turn)
        frame = Pose(self._within_reach(frame.position, self.strand.length, place), frame.quaternion)
        turns = self._turns + _clipped(self._asked_turns - self._turns, turn)
        if self._solved(frame, turns, place, _ITERATIONS if share == 1.0 else _FEWER):
            self._share = min(1.0, _FASTER * share)
            self.trouble = ""
            return
        self._share = max(_SLOWEST, _SLOWER * share)
        place = None if self._taken is None else self._taken.place
        self._solved(self._frame, self._turns, place, _ITERATIONS)
        self.trouble = "the strand finds no equilibrium further on: it stays where it is; go back a little"

    def _solved(self, frame: Pose, turns: float, place: FloatArray | None, iterations: int) -> bool:
        """Whether there is an equilibrium with the instrument and the grabbed point there; it is taken if so."""
        via: list[tuple[float, ArrayLike | Pose]] = [(pin.s, pin.place) for pin in self._pins if pin.enabled]
        if self._taken is not None and place is not None:
            via.append((self._taken.s, place))
        try:
            state = self.strand.solve(
                base=self.base, coupling=self.coupling, hand=frame @ rolled(turns), gravity=self._gravity, via=via,
                guess=self.state, max_iterations=iterations, throw=False,
            )  # fmt: skip
        except InputError:  # pins beyond the reach of each other
            return False
        if not state.report.converged:
            return False
        self.state, self._frame, self._turns = state, frame, turns
        if self._taken is not None and place is not None:
            self._taken.place = place
        return True

    # ----------------------------------------------------------------------------------------------- what is taken

    def grab(self, part: int, place: Place) -> None:
        """Take the instrument, or the strand at a part of its length, 0 to 1."""
        self._check_part(part)
        if part > 0:
            solids = self._picture.solids
            solid, read, takes_hand = solids[part - 1] if part <= len(solids) else (None, None, False)
            if not takes_hand or solid is None or read is None:
                raise InputError("this cannot be dragged: take the strand or the instrument")
            where = validation.vector("place", place)
            view = solid.view(np.zeros(solid.size))
            read(view)
            self._take_hand(Pose(view.position, view.quaternion) @ where)
        else:
            at = self._part_of_length(place)
            if at > _NEAR_TIP:
                self._take_hand(self.state.tip_pose.position)
            else:
                s = self._node_at(at)
                self._refuse_pinned(s)
                self.release()
                self.take_over()
                self._taken = Hold("hand", s, self._place_at(s))
                self._wanted = self._taken.place

    def _take_hand(self, point: FloatArray) -> None:
        self.release()
        self.take_over()
        self._lever = point - self._frame.position
        self._offset = point - self.state.tip_pose.position

    def drag(self, hand: FloatArray) -> None:
        """Move the hand to (3,), m."""
        where = validation.vector("hand", hand)
        if self._lever is not None:
            self._asked = Pose(where - self._lever, self._asked.quaternion)
        elif self._taken is not None:
            self._wanted = where
        else:
            raise InputError("nothing is held: grab first")

    def release(self) -> None:
        """Let go: the instrument stays, the strand springs back."""
        self._taken = self._lever = None

    def pin(self, part: int, place: Place) -> None:
        """Hold the strand at a part of its length where it is now."""
        self._check_part(part)
        if part != 0:
            raise InputError("only the strand can be pinned")
        s = self._node_at(self._part_of_length(place))
        if self._taken is not None and self._taken.s == s:
            self.release()
        self._refuse_pinned(s)
        self._pinned += 1
        self._pins.append(Hold(f"pin {self._pinned}", s, self._place_at(s)))
        self._portrait = None

    def switch(self, tie: int, on: bool) -> None:
        """Switch a pin on, where the strand is now, or off."""
        pin = self._pin(tie)
        if on and not pin.enabled:
            if self._taken is not None and self._taken.s == pin.s:
                self.release()
            pin.place = self._place_at(pin.s)
        pin.enabled = bool(on)

    def remove(self, tie: int) -> None:
        """Take a pin away."""
        self._pins.remove(self._pin(tie))
        self._portrait = None

    def _pin(self, tie: int) -> Hold:
        return self._pins[validation.count("tie", tie, 0, len(self._pins) - 1)]

    def _check_part(self, part: int) -> None:
        validation.count("part", part, 0, len(self.portrait.cast.parts) - 1)

    def _part_of_length(self, place: Place) -> float:
        return validation.number("place", place, minimum=0.0, maximum=1.0)

    def _node_at(self, part: float) -> float:
        """The arclength of a node near a part of the length, so that the mesh stays as it is."""
        if not _NEAR_BASE <= part <= _NEAR_TIP:
            raise InputError("the end of the strand is held there: take it further away from its end")
        cells = self.strand.nodes - 1
        node = 2 * round(0.5 * cells * part)
        return self.strand.length * node / cells

    def _refuse_pinned(self, s: float) -> None:
        for pin in self._pins:
            if pin.s == s and pin.enabled:
                raise InputError(f"{pin.name} holds the strand there: switch it off first, or take another place")

    def _place_at(self, s: float) -> FloatArray:
        return np.array([np.interp(s, self.state.s, column) for column in self.state.positions.T])

    def _next_place(self, most: float) -> FloatArray:
        """Where the grabbed point goes: towards the hand by `most` (m) at most, as far as the strand reaches."""
        assert self._taken is not None
        way = self._wanted - self._taken.place
        far = float(np.linalg.norm(way))
        step = way * min(1.0, most / far) if far > 0.0 else way
        return self._within_reach(self._taken.place + step, self._taken.s)

    def _within_reach(self, place: FloatArray, s: float, grabbed: FloatArray | None = None) -> FloatArray:
        """`place` of the strand at s, brought within reach of the held points before and after it, unless it was
        beyond already: then no further.

        `grabbed` is where the mouse has the strand.
        """
        now = self._frame.position if s == self.strand.length or self._taken is None else self._taken.place
        held = [(0.0, self.base.position), *((pin.s, pin.place) for pin in self._pins if pin.enabled)]
        if s < self.strand.length:
            held.append((self.strand.length, self._frame.position))
        elif self._taken is not None and grabbed is not None:
            held.append((self._taken.s, grabbed))
        around = [max((item for item in held if item[0] < s), key=lambda item: item[0])]
        around += sorted((item for item in held if item[0] > s), key=lambda item: item[0])[:1]
        for _ in range(8):  # onto the spheres in turn
            for there, where in around:
                springy = self.strand.length in (s, there)
                reach = max((_STRETCH if springy else _REACH) * abs(s - there), float(np.linalg.norm(now - where)))
                offset = place - where
                length = float(np.linalg.norm(offset))
                if length > reach:
                    place = where + offset * (reach / length)
        return place

    # -------------------------------------------------------------------------------------------------- what is seen

    @property
    def portrait(self) -> Portrait:
        """The strand, then what `add_solid` added, then the pins."""
        if self._portrait is None:
            self._portrait = self._picture.portrait(self, self._pins)
        return self._portrait


def _clipped(value: float, most: float) -> float:
    return min(max(value, -most), most)


def _towards(now: Pose, asked: Pose, most: float, turns: float) -> Pose:
    """The pose that is up to `most` (m) and `turns` nearer to `asked` than `now` is."""
    way = asked.position - now.position
    far = float(np.linalg.norm(way))
    place = asked.position if far <= most else now.position + way * (most / far)
    turn = rotation_log((now.inverse() @ asked).quaternion)
    angle, largest = float(np.linalg.norm(turn)), 2.0 * math.pi * turns
    if angle <= largest:
        return Pose(place, asked.quaternion)
    return Pose(place, (now @ Pose((0.0, 0.0, 0.0), rotation_exp(turn * (largest / angle)))).quaternion)
