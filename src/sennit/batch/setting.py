"""What is set in the scenes of a batch, and what of them varies from one to the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sennit import validation
from sennit.attributes import guarded, settable
from sennit.batch.matter import OF_SCENES, REST, change, change_laws, laws_kept, refusal, varies
from sennit.batch.memory import Words
from sennit.batch.running import Running
from sennit.batch.workshop import Course
from sennit.bodies.body import AbstractBody
from sennit.bodies.rod.rod import Rod
from sennit.bodies.world import WorldPoint
from sennit.constraints.cable.cable import Cable
from sennit.constraints.load import JUMP, Load
from sennit.contact.obstacle import Obstacle
from sennit.errors import InputError
from sennit.scene.colliding import ContactPair, SceneContacts
from sennit.scene.scene import Scene
from sennit.validation import FloatArray, quoted

__all__ = ["Setting"]

_DRIVES = frozenset({"speed"})
"""What is set on a cable by a call: of its winch, m/s."""


@guarded()
class Setting(Running):
    """The part of a `Batch` that sets and varies."""

    _scene: Scene
    _start_words: Words
    _start_room: Words
    _begun: Course
    _start: dict[str, NDArray[Any]]
    _varied: dict[int, NDArray[np.int64]]
    _goals: dict[Any, FloatArray]
    _matter: dict[Any, dict[str, FloatArray]]

    def set(self, thing: Any, name: str, values: ArrayLike) -> None:
        """Set what can be set on a constraint, load, point or body of the scene: ``values[i]`` in scene i; of a cable
        also the ``"speed"`` of its winch, m/s.

        `values`: (B, …), or one value for all. `thing` may be the scene itself, for its gravity. Raises `InputError`,
        and changes nothing, for what can't be set, other shapes, and numbers that are not finite, naming the scene.
        """
        with self._alone():
            own = self._own(thing)
            array = self._checked(own, name, values)
            self._fresh = False
            anchor = getattr(own, "_anchor", own if isinstance(own, WorldPoint) else None)
            place = "position" if anchor is own or isinstance(own, Obstacle) else "target"
            if isinstance(own, Obstacle) and name == place:
                own._check_not_led()
            if name == place and isinstance(anchor, WorldPoint) and anchor._index >= 0 and array.shape[1:] == (3,):
                self._goals[anchor._index] = array
            elif isinstance(own, Load) and name in ("force", "torque") and own in self._shop.scene._loads:
                if name == "torque":
                    for value in array:
                        own._checked_torque(value)
                self._set_load(own, name, array)
            elif own is self._shop.scene and name == "gravity":
                self._gravity[:] = array
                self._last_step[:] = 0.0
                self._prepared[:] = -1
                self._write("ledger.fresh", slice(None), 1)
            else:
                self._set_each(own, name, array)

    def _set_load(self, load: Load, name: str, values: FloatArray) -> None:
        number = self._shop.scene._loads.index(load)
        field = self._field(f"loads.{name}")[:, number]
        change = np.abs(values - field).max(axis=1)
        size = np.maximum(np.abs(values).max(axis=1), np.abs(field).max(axis=1))
        self._write(f"loads.{name}", (slice(None), number), values)
        self._last_step[change > JUMP * size] = 0.0

    def vary(self, thing: Any, name: str, values: ArrayLike) -> FloatArray:
        """Give a property of the scene another value in each scene; what hangs on it is computed anew at once.

        Of a rod ``"youngs_modulus"``, ``"shear_modulus"`` (Pa), ``"density"`` (kg/m³), ``"radius"`` (m; of a circular
        section), ``"relaxation_time"`` (s), ``"rest_curvature"`` ((B, 2 or 3) or (B, k, 2 or 3), at k places along it)
        and ``"rest_twist"``; of what `Scene.collide` returned, or of `scene.contacts` for all that no rule speaks of,
        ``"friction"`` and the other numbers of contact; of a rigid body ``"mass"`` (kg, with its inertia) and
        ``"inertia"`` ((3,) or (3, 3), kg·m²); of anything else what can be set on it (``"compliance"``, ``"damping"``,
        ``"length"``) and the ``"friction"`` of a slider. `values`: (B, …), or one for all. `reset` keeps them.

        Returns the values, (B, …). Raises as `set` does.
        """
        with self._alone():
            own = self._own(thing)
            array = self._checked(own, name, values, varied=True)
            known = self._matter.get(own, {}) | {name: array}
            scene = self._shop.scene
            if isinstance(own, ContactPair | SceneContacts):
                laws = {t: k for t, k in self._matter.items() if isinstance(t, ContactPair | SceneContacts)}
                laws[own] = known
                with laws_kept(scene):
                    self._each(lambda i: change_laws({t: _numbers_of(m, i) for t, m in laws.items()}), keep=True)
            else:
                self._each(lambda i: change(scene, own, _numbers_of(known, i), name), keep=True)
            self._matter[own] = known
            return array

    def _checked(self, own: Any, name: str, values: ArrayLike, varied: bool = False) -> FloatArray:
        """`values` as an array with a row for each scene."""
        if not isinstance(name, str):
            raise InputError(f"name must be the name of a property, got {quoted(name)}")
        can = _settable(own) | (varies(own) if varied else _DRIVES if isinstance(own, Cable) else frozenset())
        if isinstance(own, ContactPair | SceneContacts) and not varied:
            raise InputError(
                f"{quoted(name)} of contacts is given by batch.vary, which `reset` keeps, not by batch.set"
            )
        if name not in can and varied and (reason := refusal(own, name)):
            raise InputError(reason)
        if name not in can or (own is self._shop.scene and name != "gravity"):
            known = ", ".join(sorted(can)) if own is not self._shop.scene else "gravity"
            word = "vary" if varied else "set"
            raise InputError(f"{word} takes one of {known} for {_called(own)}, got {quoted(name)}")
        try:
            given = np.asarray(values)
        except Exception:  # whatever a list that is none, or a value's own methods, raise
            given = np.asarray(None)
        flag = isinstance(getattr(own, name, None), bool)
        if given.dtype.kind not in ("b" if flag else "iuf") or validation._holds_booleans(values) != flag:
            raise InputError(
                f"values of {name} must be {'True or False' if flag else 'numbers'}, (B, …) with B = {self.count}, got "
                f"{quoted(values)}"
            )
        if isinstance(own, Rod) and name in REST:
            return self._checked_along(name, given)
        shape = np.shape(getattr(own, name)) if name in _settable(own) else _varied_shape(own, name)
        if name == "target" and shape == ():
            shape = (3,)
        wide = [shape, (3, 3)] if name == "inertia" else [shape]
        if given.shape not in [(self.count, *s) for s in wide] and given.shape not in wide:
            raise InputError(
                f"values of {name} must be {_shape_text(self.count, shape)}, got an array of shape {given.shape}"
            )
        return self._all_finite(
            name, np.broadcast_to(given, (self.count, *given.shape)) if given.shape in wide else given
        )

    def _checked_along(self, name: str, given: NDArray[Any]) -> FloatArray:
        """Numbers along a rod: of each scene those that can be set on a rod, or some for all and the whole rod."""
        one = [(2,), (3,)] if name == "rest_curvature" else [()]
        if given.shape in one:
            return self._all_finite(name, np.broadcast_to(given, (self.count, *given.shape)))
        own = given.shape[1:]
        if given.shape[:1] != (self.count,) or not (own in one or (own[1:] in one and own[0] > 1)):
            kinds = " or ".join(
                str(("B", *s)).replace("'", "") + " or " + str(("B", "k", *s)).replace("'", "") for s in one
            )
            raise InputError(
                f"values of {name} must be {kinds} with B = {self.count} and k places along the rod, or {one[0]} for "
                f"all scenes, got an array of shape {given.shape}"
            )
        return self._all_finite(name, given)

    def _all_finite(self, name: str, values: NDArray[Any]) -> FloatArray:
        full = np.array(values)
        if full.dtype.kind != "b":
            full = full.astype(np.float64)
            wrong = ~np.isfinite(full).reshape(self.count, -1).all(axis=1)
            if wrong.any():
                i = int(np.flatnonzero(wrong)[0])
                raise InputError(f"values of {name} must be finite: that of scene {i} is {quoted(full[i])}")
        return full

    def _set_each(self, own: Any, name: str, array: NDArray[Any]) -> None:
        if isinstance(own, Rod) and name in REST:
            self._each(lambda i: change(self._shop.scene, own, {name: array[i]}, name), keep=False)
            return
        if name in _DRIVES and isinstance(own, Cable):
            self._each(lambda i: own.drive(float(array[i])), keep=False)
            return
        convert = bool if array.dtype.kind == "b" else (float if array.ndim == 1 else np.array)
        self._each(lambda i: setattr(own, name, convert(array[i])), keep=False)

    def _each(self, act: Callable[[int], object], keep: bool) -> None:
        """Do something to each scene in Python; if it can't be done to one, to none. `keep`: `reset` keeps it too."""
        done, moved = self._differences(act, self._bring)
        if keep:
            again = done if self._fresh else self._differences(act, self._bring_first)[0]
            for i, changed, numbers, _, _ in again:
                for at, number in zip(changed.tolist(), numbers.tolist(), strict=True):
                    if at not in self._varied:
                        self._varied[at] = np.full(self.count, self._start_words[at])
                    self._varied[at][i] = number
            self._start["_last_step"][:] = 0.0
        for i, shelf, room in moved:
            self._move(i, shelf)
            self._fill_room(i, room)
        for i, _, _, last, redundant in done:
            self._last_step[i] = last
            if i in self._courses:
                self._courses[i].redundant = redundant
        self._change_words(done)
        if len(self._shop.system.model.rows):
            self._soft &= self._field("rows.spare").any(axis=1)
        else:
            self._soft[:] = False
        self._prepared[:] = -1

    def _change_words(self, done: list[tuple[int, Words, Words, float, Any]]) -> None:
        """Write what has become of each scene's numbers."""
        for i, changed, numbers, _, _ in done:
            self._words[i, changed] = numbers

    def _fill_room(self, i: int, room: Words) -> None:
        """Put numbers into the room of scene `i`."""
        self._shelves[i].fill(self._rooms[i], room)

    def _differences(
        self, act: Callable[[int], object], bring: Callable[[int], None]
    ) -> tuple[list[tuple[int, Words, Words, float, Any]], list[tuple[int, Any, Words]]]:
        """What becomes of each scene's numbers by `act`; and the shelves and rooms of those whose pattern changes."""
        shop = self._shop
        before, now = np.zeros(shop.main.size, np.int64), np.zeros(shop.main.size, np.int64)
        done: list[tuple[int, Words, Words, float, Any]] = []
        moved: list[tuple[int, Any, Words]] = []
        for i in range(self.count):
            bring(i)
            shop.main.read(before)
            try:
                act(i)
            except InputError as problem:
                raise InputError(f"scene {i}: {problem}") from None
            shelf = shop.take_back()
            if shelf is not self._shelves[i]:
                room = shelf.first_room()
                shelf.region.read(room)
                moved.append((i, shelf, room))
            shop.main.read(now)
            changed = np.flatnonzero(now != before)
            done.append((i, changed, now[changed], shop.scene._clock.last_step, shop.scene._redundant))
        return done, moved

    def _bring_first(self, i: int) -> None:
        """Bring scene `i` to the workshop as it begins."""
        words = self._start_words.copy()
        for at, numbers in self._varied.items():
            words[at] = numbers[i]
        begun = {name: values[0] for name, values in self._start.items()}
        clock = float(begun["_clock"]), float(begun["_last_step"])
        self._shop.bring(
            words, self._start_room, self._start_shelf, self._begun, begun["_gravity"].copy(), clock,
            int(begun["_steps"]), bool(begun["_moved"]), bool(begun["_soft"]),
        )  # fmt: skip


def _numbers_of(known: dict[str, FloatArray], i: int) -> dict[str, Any]:
    """What was given to scene i."""
    return {name: values[i] for name, values in known.items()}


def _settable(thing: Any) -> frozenset[str]:
    """What can be set on it, but what it is made of."""
    kind: Any = type(thing)
    if isinstance(thing, Rod):
        return settable(kind) - OF_SCENES | REST
    return settable(kind) - OF_SCENES if isinstance(thing, AbstractBody) else settable(kind)


def _called(thing: Any) -> str:
    return str(getattr(thing, "name", None) or repr(thing))


def _varied_shape(own: Any, name: str) -> tuple[int, ...]:
    """Shape of one value of what only `vary` gives."""
    return (3,) if name == "inertia" else ()


def _shape_text(count: int, shape: Iterable[int]) -> str:
    """Which shapes are taken, in words."""
    one = tuple(shape)
    return f"an array {(count, *one)}, or one {'number' if not one else f'of shape {one}'} for all scenes"
