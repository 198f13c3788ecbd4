"""A scene on a page: it steps, is dragged, pinned, switched and reset."""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.bodies.point.point import Point
from sennit.bodies.rod.rod import Rod
from sennit.constraints.constraint import AbstractConstraint
from sennit.constraints.place import Fix
from sennit.controls import SCENARIO, Control, Readout, Watch
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.live.arrows import arrows, room_for
from sennit.live.commands import FASTEST, SLOWEST
from sennit.live.grasp import handle_points, point_at
from sennit.live.offers import offered_watches
from sennit.live.play import Handle, Place, Tie
from sennit.live.scissors import cut_rods
from sennit.live.spells import Spell, Spells
from sennit.live.touch import Touch, touch_for
from sennit.portrait.cast import Portrait
from sennit.scene.scene import Scene, Snapshot
from sennit.validation import FloatArray, quoted

__all__ = ["ScenePlay"]

SMOOTHING = 0.04  # s: pointers are read some 20 times a second; the hand that holds on moves smoothly between
PAST = 20
"""How many things can be undone, at most."""
Callback = Callable[[float], object]


class ScenePlay:
    """Runs `scene` in steps of `dt` (s).

    `before_step` and `after_step` are called with dt around each step, `on_reset` after a reset, which goes back to how
    the scene was when this play was made. `camera`: eye and target, (3,) each, m; `ground`: height, m;
    `time_scale`: simulated seconds in a real one at the beginning, 0.01 to 10.
    """

    def __init__(
        self, scene: Scene, *, before_step: Callback | None = None, after_step: Callback | None = None,
        on_reset: Callable[[], object] | None = None, dt: float | None = None, title: str | None = None,
        camera: tuple[ArrayLike, ArrayLike] | None = None, ground: float | None = None, time_scale: float = 1.0,
    ) -> None:  # fmt: skip
        validation.instance("scene", scene, Scene, "a sennit.Scene")
        for name, call in (("before_step", before_step), ("after_step", after_step), ("on_reset", on_reset)):
            if call is not None and not callable(call):
                raise InputError(f"{name} must be a function, got {quoted(call)}")
        self.scene = scene
        self.dt = 5e-3 if dt is None else validation.number("dt", dt, positive=True)
        self.title = validation.label("title", title or None) or scene.name or "sennit"
        self.camera = None
        if camera is not None:
            eye, target = camera
            self.camera = (validation.vector("camera's eye", eye), validation.vector("camera's target", target))
        self.time_scale = validation.number("time_scale", time_scale, minimum=SLOWEST, maximum=FASTEST)
        self.ground = None if ground is None else validation.number("ground", ground)
        self._before, self._after, self._on_reset = before_step, after_step, on_reset
        self._begin = scene.snapshot()
        self._gravity = scene.gravity
        self._portrait: Portrait | None = None
        self._content: tuple[Any, ...] = ()
        self._handles: tuple[Handle, ...] = ()
        self._offered: list[Watch] = []
        self._parts_of: dict[int, tuple[int, ...]] = {}
        self._hand: Fix | None = None
        self._touch: Touch | None = None
        self._wanted = np.zeros(3)
        self._refused = ""
        self._spells = Spells(scene)
        self._pins = itertools.count(1)
        self._past: deque[tuple[Snapshot, FloatArray]] = deque(maxlen=PAST)
        """How it was before each of the last things that were done to it."""

    # ------------------------------------------------------------------------------------------------- what there is

    @property
    def time(self) -> float:
        """The scene's clock, s."""
        return self.scene.time

    @property
    def trouble(self) -> str:
        """What the scene's last event says, other than what `spell` tells, or a control that could not be reset."""
        if self._refused:
            return self._refused
        return self._spells.other

    @property
    def spell(self) -> Spell | None:
        """What had to be done to the scene's last steps so that they stay sound."""
        return self._spells.newest

    @property
    def controls(self) -> Sequence[Control]:
        """The scene's."""
        return self.scene.controls

    @property
    def watches(self) -> Sequence[Watch]:
        """The scene's, and forces, tensions and energies that a person may choose to see."""
        _ = self.portrait
        return (*self.scene.watches, *self._offered)

    @property
    def readouts(self) -> Sequence[Readout]:
        """The scene's."""
        return self.scene.readouts

    @property
    def gravity(self) -> FloatArray:
        """The scene's, (3,), m/s²."""
        return self.scene.gravity

    @property
    def portrait(self) -> Portrait:
        """What is seen; another object when other things are in the scene than before. The hand is left out."""
        from sennit.portrait.of_scene import portrait_of

        content = (
            *self.scene.bodies, *self._constraints(), *self.scene.loads, *self.scene.obstacles, *self.scene.decor,
            *(made for body in self.scene.bodies if isinstance(body, Rod) for made in (body._looks()[0], body.tables)),
        )  # fmt: skip
        if self._portrait is None or len(content) != len(self._content) or any(map(_differ, content, self._content)):
            self._content = content
            self._portrait = portrait_of(self.scene, without=self._unseen())
            self._find_handles()
            self._offered = offered_watches(self.scene, self._constraints())
            parts: dict[int, list[int]] = {}
            for k in range(len(self._portrait.cast.parts)):
                parts.setdefault(id(self._portrait.subject(k)), []).append(k)
            self._parts_of = {key: tuple(numbers) for key, numbers in parts.items()}
        return self._portrait

    def _unseen(self) -> tuple[AbstractConstraint, ...]:
        """Constraints that are not part of what is seen: the hand."""
        return () if self._hand is None else (self._hand,)

    def _constraints(self) -> list[AbstractConstraint]:
        unseen = self._unseen()
        return [c for c in self.scene.constraints if c not in unseen]

    @property
    def ties(self) -> Sequence[Tie]:
        """The scene's constraints, without the hand."""
        _ = self.portrait
        return [Tie(c.name, type(c).__name__, c.enabled, self._parts_of.get(id(c), ())) for c in self._constraints()]

    @property
    def handles(self) -> Sequence[Handle]:
        """Targets of clamps and fixes, and points of the world that cables, joints and holes use."""
        _ = self.portrait
        return self._handles

    def _find_handles(self) -> None:
        found: list[Handle] = []
        seen: set[int] = set()
        for constraint in self._constraints():
            count, turns = 0, constraint.turns
            for point in handle_points(constraint):
                if point.body is None and id(point) not in seen:
                    seen.add(id(point))
                    count += 1
                    name = constraint.name if count == 1 else f"{constraint.name} ({count})"
                    found.append(Handle(name, turns, _reader(point), _mover(point, turns)))
        self._handles = tuple(found)

    # ---------------------------------------------------------------------------------------------------------- time

    def step(self) -> None:
        """Advance by `dt`."""
        if self._before is not None:
            self._before(self.dt)
        if self.holding:
            self._move_hand()
        self.scene.step(self.dt)
        if self._after is not None:
            self._after(self.dt)

    def reset(self) -> None:
        """Go back to how the scene was when this play was made: state, controls, gravity, what is in it."""
        self._hand = self._touch = None
        self._refused = ""
        self._past.clear()
        self.scene.restore(self._begin)
        for control in self.scene.controls:
            if control.kind != "button" and control.value != control.start and control.name != SCENARIO:
                self._set(control, control.start)
        self.scene.restore(self._begin)  # what controls have done to the state
        for control in self.scene.controls:
            if control.name == SCENARIO and control.value != control.start:
                self._set(control, control.value)  # begin again with what was chosen
        self.scene.gravity = self._gravity
        if self._on_reset is not None:
            self._on_reset()

    def _set(self, control: Control, value: Any) -> None:
        try:
            control.use(value)
        except Exception as problem:  # of the scene's own function: all else is reset all the same
            self._refused = f"{control.name} did not go back: {problem}"

    def set_gravity(self, value: FloatArray) -> None:
        """Change the scene's gravity, (3,), m/s²."""
        self.scene.gravity = value

    # ---------------------------------------------------------------------------------------------------------- hand

    @property
    def holding(self) -> bool:
        """Whether the hand holds something."""
        if self._hand is not None and self._hand.scene is not self.scene:  # a script went back to before it was there
            self._hand = self._touch = None
        return self._hand is not None

    @property
    def grip(self) -> tuple[FloatArray, FloatArray]:
        """Where the hand is, and where the place that it holds is: (3,) each, m."""
        assert self._hand is not None
        return self._wanted.copy(), self._hand.points[0].position

    def grab(self, part: int, place: Place) -> None:
        """Hold a body at a material place with a spring and a damper; what was held is let go."""
        point = self._point(part, place)
        self.release()
        touch = touch_for(self.scene, point)
        hand = Fix(point, compliance=1.0 / touch.stiffness, damping=touch.damping, name="hand")
        self.scene.add(hand)
        self._hand, self._touch, self._wanted = hand, touch, point.position

    def drag(self, hand: FloatArray) -> None:
        """Move the hand to (3,), m."""
        self._wanted = validation.vector("hand", hand)

    def release(self) -> None:
        """Let go."""
        if self.holding:
            assert self._hand is not None
            hand, self._hand, self._touch = self._hand, None, None
            self.scene.remove(hand)

    def _move_hand(self) -> None:
        """The hand's target follows the pointer smoothly; neither spring nor damper pulls with more than the greatest
        force.
        """
        assert self._hand is not None and self._touch is not None
        before, held = self._hand.target, self._hand.points[0].position
        target = before + (1.0 - math.exp(-self.dt / SMOOTHING)) * (self._wanted - before)
        target = held + _shortened(target - held, self._touch.reach)
        self._hand.target = before + _shortened(target - before, self._touch.fastest * self.dt)

    def _point(self, part: int, place: Place) -> Point:
        """The material point at `place` of part number `part`."""
        return point_at(self.portrait.subject(part), self.portrait.cast.parts[part], place)

    # ---------------------------------------------------------------------------------------------------------- undo

    @property
    def undoable(self) -> bool:
        """Whether there is something to undo."""
        return bool(self._past)

    def remember(self) -> Callable[[], None]:
        """Something is about to be done to it; what is returned is called if it could not be done."""
        past = tuple(self._past)
        if not self.holding:
            self._keep()

        def forget() -> None:
            self._past.clear()
            self._past.extend(past)

        return forget

    def _keep(self) -> None:
        self._past.append((self.scene.snapshot(), self.scene.gravity))

    def undo(self) -> None:
        """Go back to how the scene was before the last drag, pin, cut, switch, removal or move of a gizmo."""
        if not self._past:
            raise InputError("there is nothing to undo")
        self.release()
        before, gravity = self._past.pop()
        self.scene.restore(before)
        self.scene.gravity = gravity

    @property
    def forces(self) -> Sequence[str]:
        """Those of constraints and of contacts."""
        return ("constraints", "contacts")

    def arrow_room(self, wanted: tuple[bool, bool]) -> int:
        """How many arrows of forces there are at most: of constraints, and of contacts, where `wanted`."""
        return room_for(self._constraints(), wanted)

    def arrows(self, wanted: tuple[bool, bool], room: int) -> FloatArray:
        """Place (m) and force (N) of each, (room, 6)."""
        return arrows(self.scene, self._constraints(), wanted, room)

    # ------------------------------------------------------------------------------------------------------ scissors

    @property
    def cuttable(self) -> Sequence[int]:
        """The parts that show rods."""
        portrait = self.portrait
        return [k for k in range(len(portrait.cast.parts)) if isinstance(portrait.subject(k), Rod)]

    def cut(self, places: Sequence[tuple[int, Place]]) -> list[str]:
        """Cut rods at material places; why some could not be cut is returned."""
        return cut_rods([self._rod_at(part, place) for part, place in places])

    def _rod_at(self, part: int, place: Place) -> tuple[Rod, float]:
        subject = self.portrait.subject(part)
        if not isinstance(subject, Rod):
            name = getattr(subject, "name", None)
            raise InputError(f"{name or 'this'} can't be cut: scissors cut rods")
        return subject, min(max(validation.number("place", place), 0.0), 1.0) * subject.length

    # ---------------------------------------------------------------------------------------------------------- ties

    def pin(self, part: int, place: Place) -> None:
        """Hold a material place where it is now."""
        point = self._point(part, place)
        if point.body is None:
            raise InputError("this does not move")
        self.scene.add(Fix(point, name=f"pin {next(self._pins)}"))

    def switch(self, tie: int, on: bool) -> None:
        """Switch a constraint on or off."""
        self._tie(tie).enabled = on

    def remove(self, tie: int) -> None:
        """Take a constraint out of the scene; `reset` brings it back."""
        self.scene.remove(self._tie(tie))

    def _tie(self, number: int) -> Any:
        constraints = self._constraints()
        if not 0 <= number < len(constraints):
            raise InputError(f"there is no constraint number {number}")
        return constraints[number]


def _differ(a: Any, b: Any) -> bool:
    return a is not b


def _shortened(vector: FloatArray, longest: float) -> FloatArray:
    """`vector`, or one in its direction of the length `longest`."""
    length = float(np.linalg.norm(vector))
    return vector if length <= longest else vector * (longest / length)


def _reader(point: Point) -> Callable[[], Pose]:
    return lambda: point.pose


def _mover(point: Any, turns: bool) -> Callable[[Pose], None]:
    def move(pose: Pose) -> None:
        point.position = pose if turns else pose.position

    return move
