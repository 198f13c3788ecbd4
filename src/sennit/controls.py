"""What a page offers besides a scene: what people set, values to plot and to read, and decoration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sennit import validation
from sennit.attributes import guarded, unchanging
from sennit.bodies.point.point import Point
from sennit.errors import InputError
from sennit.validation import FloatArray, quoted

__all__ = ["Control", "Dashboard", "Decor", "Readout", "Watch"]

_GREY = (168, 172, 178)
LONGEST_TEXT = 200
"""Characters of a text that is typed into a page's field."""
PAGE_KEYS = ("a", "d", "f", "h", "m", "p", "r", "t", "x", "z")
"""Keys that mean something on every page."""
SCENARIO = "scenario"
"""Name of the menu of beginnings."""


@guarded("value")
@dataclass(eq=False, slots=True)
class Control:
    """One slider, switch, button, menu or text field; made by `Dashboard.control`."""

    name: str
    act: Callable[..., object]
    """Called with the new value; a button's without arguments."""
    value: float | bool | str | None
    """Present value; None for a button."""
    range: tuple[float, float] | None
    """Of a slider: least and largest value."""
    unit: str
    start: float | bool | str | None
    """The value that it was declared with."""
    choices: tuple[str, ...] | None = None
    """Of a menu: what can be chosen."""
    key: str | None = None
    """Of a button or a switch: the key of the keyboard that presses it."""

    @property
    def kind(self) -> str:
        """``"slider"``, ``"switch"``, ``"button"``, ``"menu"`` or ``"text"``."""
        if self.range is not None:
            return "slider"
        if self.choices is not None:
            return "menu"
        if isinstance(self.value, str):
            return "text"
        return "button" if self.value is None else "switch"

    @property
    def number(self) -> float:
        """Its value as a number: of a menu which choice, counted from 0; 0 of buttons and texts."""
        if self.choices is not None:
            return float(self.choices.index(str(self.value)))
        return 0.0 if isinstance(self.value, str) else float(self.value or 0.0)

    def use(self, value: Any = None) -> None:
        """Set it to `value` (a button takes none). Raises `InputError` for a value of another kind or out of range."""
        if self.kind == "slider":
            assert self.range is not None
            number = validation.number(self.name, value, minimum=self.range[0], maximum=self.range[1])
            self.act(number)
            self.value = number
        elif self.kind == "switch":
            if not isinstance(value, bool):
                raise InputError(f"{self.name} must be True or False, got {quoted(value)}")
            self.act(value)
            self.value = value
        elif self.kind == "menu":
            assert self.choices is not None
            if not isinstance(value, str) or value not in self.choices:
                raise InputError(f"{self.name} must be one of {', '.join(self.choices)}, got {quoted(value)}")
            self.act(value)
            self.value = value
        elif self.kind == "text":
            text = _typed(self.name, value)
            self.act(text)
            self.value = text
        else:
            self.act()


@unchanging
@dataclass(frozen=True, eq=False, slots=True)
class Watch:
    """One value that is plotted over time; made by `Dashboard.watch`."""

    name: str
    read: Callable[[], float]
    unit: str
    chosen: bool = True
    """Whether a page plots it before anybody chooses."""


@unchanging
@dataclass(frozen=True, eq=False, slots=True)
class Readout:
    """A text that a page shows, such as a score; made by `Dashboard.show`."""

    name: str
    read: Callable[[], object]

    def text(self) -> str:
        """What it says now. Raises `InputError` for what is neither a text nor a number."""
        said = self.read()
        if isinstance(said, str):
            if len(said) > 5 * LONGEST_TEXT:
                raise InputError(
                    f"{self.name} must be a text of {5 * LONGEST_TEXT} characters or less, got {len(said)}"
                )
            return said
        if isinstance(said, bool | np.bool_) or not isinstance(said, int | float | np.number):
            raise InputError(f"{self.name} must be a text or a number, got {quoted(said)}")
        return f"{said:.6g}"


@guarded("shown")
@dataclass(eq=False, slots=True)
class Decor:
    """A mesh that is only looked at; made by `Dashboard.decorate`."""

    name: str
    vertices: FloatArray
    """(v, 3), m, in the world, or in the frame of `on`."""
    faces: NDArray[np.int64]
    """(f, 3), wound outwards."""
    on: Point | None
    """The point that carries it."""
    colour: tuple[int, int, int]
    face_colours: NDArray[np.uint8] | None
    """(f, 3), in place of `colour`."""
    smooth: bool
    opacity: float
    instead: bool = False
    """Whether it is what the rigid body that carries it looks like."""
    shown: bool = True
    """Whether it is seen. Can be set while running."""


class Dashboard:
    """Declares controls, watches and decoration; a `Scene` is one."""

    def __init__(self) -> None:
        super().__init__()
        self._controls: list[Control] = []
        self._watches: list[Watch] = []
        self._decor: list[Decor] = []
        self._readouts: list[Readout] = []
        self._scenarios: dict[str, Callable[[], object]] = {}

    @property
    def controls(self) -> tuple[Control, ...]:
        """Sliders, switches, buttons, menus and text fields, in the order in which they were declared."""
        return tuple(self._controls)

    @property
    def watches(self) -> tuple[Watch, ...]:
        """The values that a page plots."""
        return tuple(self._watches)

    @property
    def readouts(self) -> tuple[Readout, ...]:
        """The texts that a page shows."""
        return tuple(self._readouts)

    @property
    def decor(self) -> tuple[Decor, ...]:
        """What was put there only to be looked at."""
        return tuple(self._decor)

    def control(
        self, name: str, act: Callable[..., object], value: float | bool | str | None = None, *,
        range: tuple[float, float] | None = None, unit: str = "", choices: Sequence[str] | None = None,
        key: str | None = None,
    ) -> Control:  # fmt: skip
        """Declare a parameter that a person changes on the page, in one line::

            scene.control("winch speed", cable.drive, 0.0, range=(-0.5, 0.5), unit="m/s")    # a slider
            scene.control("brake", set_brake, False)                                         # a switch
            scene.control("shoot", loose, key="g")                                           # a button, with a key
            scene.control("rope", change_rope, choices=["hemp", "steel"])                    # a menu
            scene.control("your name", greet, "")                                            # a text field

        `act` is called with the new value between two steps, not before it is first changed. A menu begins with its
        first choice unless `value` is another. `key`: a letter or a digit that presses a button or a switch, other than
        those that the page has itself (its help names them). Controls are not saved with the scene. Raises `InputError`
        for a name or a key that is taken, a range that is empty, choices that are none or alike, a value outside them.
        """
        label = _label("name", name, [c.name for c in self._controls])
        if not callable(act):
            raise InputError(f"act must be a function of the new value, got {quoted(act)}")
        unit = _unit(unit)
        limits: tuple[float, float] | None = None
        if range is not None:
            low, high = validation.array("range", range, (2,)).tolist()
            if not low < high:
                raise InputError(f"range must be (least, largest) with least < largest, got ({low:g}, {high:g})")
            limits = (low, high)
            value = low if value is None else validation.number("value", value, minimum=low, maximum=high)
        chosen = None if choices is None else _checked_choices(choices)
        if chosen is not None:
            if limits is not None:
                raise InputError(f"{label}: give range, for a slider, or choices, for a menu, not both")
            value = chosen[0] if value is None else value
            if not isinstance(value, str) or value not in chosen:
                raise InputError(f"value must be one of {', '.join(chosen)}, got {quoted(value)}")
        elif limits is None and isinstance(value, str):
            value = _typed("value", value)
        elif limits is None and value is not None and not isinstance(value, bool):
            raise InputError(
                f"{label}: a slider needs range=(least, largest); a switch True or False; a text field a text, got "
                f"{quoted(value)}"
            )
        pressed = None if key is None else _checked_key(key, [c.key for c in self._controls])
        control = Control(label, act, value, limits, unit, value, chosen, pressed)
        if pressed is not None and control.kind not in ("button", "switch"):
            raise InputError(f"{label}: key is for buttons and switches, and this is a {control.kind}: leave it out")
        self._controls.append(control)
        return control

    def watch(self, name: str, read: Callable[[], float], unit: str = "") -> Watch:
        """Declare a value that a page plots over time: ``scene.watch("rope", lambda: cable.tension, unit="N")``.

        `read` is a function without arguments, called between two steps; the name stands beside the plot.
        """
        label = _label("name", name, [w.name for w in self._watches])
        if not callable(read):
            raise InputError(f"read must be a function without arguments, got {quoted(read)}")
        watch = Watch(label, read, _unit(unit))
        self._watches.append(watch)
        return watch

    def show(self, name: str, read: Callable[[], object]) -> Readout:
        """Declare a text that a page shows in large letters: ``scene.show("score", lambda: f"{hits} of 10")``.

        `read` is called between two steps, a few times a second; it gives a text, or a number. Raises `InputError` for
        a name that is taken.
        """
        label = _label("name", name, [r.name for r in self._readouts])
        if not callable(read):
            raise InputError(f"read must be a function without arguments, got {quoted(read)}")
        readout = Readout(label, read)
        self._readouts.append(readout)
        return readout

    def scenario(self, name: str, begin: Any) -> None:
        """Offer a beginning in the page's menu "scenario"; reset goes back to the one that was chosen last.

        `begin`: a `Snapshot` of this scene, or a function without arguments that puts everything there. The menu
        begins with the scenario that is declared first, which should be as the scene is now. Raises `InputError` for a
        name that is taken, and for what is neither.
        """
        label = _label("name", name, list(self._scenarios))
        act = begin if callable(begin) else self._going_back_to(begin)
        old = next((c for c in self._controls if c.name == SCENARIO), None)
        if old is not None and not self._scenarios:
            raise InputError(
                f"there is a control {SCENARIO!r} already: give it another name, for the menu of scenarios"
            )
        self._scenarios[label] = act
        first = next(iter(self._scenarios))
        value = first if old is None else old.value
        menu = Control(SCENARIO, self._begin_scenario, value, None, "", first, tuple(self._scenarios))
        if old is None:
            self._controls.insert(0, menu)
        else:
            self._controls[self._controls.index(old)] = menu

    def _reset_controls(self) -> None:
        """Set all controls back to what they were declared with, but the choice of a scenario."""
        for control in self._controls:
            if control.value is not None and control.value != control.start and control.name != SCENARIO:
                control.use(control.start)

    def _begin_again(self) -> None:
        """Put everything where the chosen scenario begins, if one was chosen."""
        for control in self._controls:
            if control.name == SCENARIO and control.value != control.start:
                control.use(control.value)

    def _begin_scenario(self, name: str) -> None:
        self._scenarios[name]()

    def _going_back_to(self, begin: object) -> Callable[[], object]:
        """What goes back to a snapshot, where there are such."""
        raise InputError(f"begin must be a function without arguments, got {quoted(begin)}")

    def decorate(
        self, vertices: ArrayLike, faces: ArrayLike, *, on: Point | None = None,
        colour: tuple[int, int, int] = _GREY, face_colours: ArrayLike | None = None, smooth: bool = False,
        opacity: float = 1.0, instead: bool = False, name: str | None = None,
    ) -> Decor:  # fmt: skip
        """Put a mesh into the picture that is only looked at: a floor, a mast, the hull that a rigid body stands for.

        `vertices` (v, 3), m, `faces` (f, 3), wound outwards. It is fixed in the world, or carried by the point `on`,
        in whose frame the vertices then are. `colour` of all or `face_colours` (f, 3), 0 to 255. `smooth` rounds off
        its edges in shading. `opacity`: above 0, at most 1. `instead`: it is shown instead of the rigid body at whose
        centre of mass ``on=body.at()`` it is carried, and is dragged as the body would be. Pages and films show it; it
        is not saved with the scene.

        Raises `InputError` for faces of vertices that do not exist, and for a point of another scene.
        """
        places = validation.array("vertices", vertices, (None, 3))
        corners = validation.array("faces", faces, (None, 3))
        if not len(corners) or (corners != np.floor(corners)).any():
            raise InputError(f"faces must be whole numbers, one row or more, got {quoted(faces)}")
        if corners.min() < 0 or corners.max() >= len(places):
            wrong = int(corners.max() if corners.max() >= len(places) else corners.min())
            raise InputError(f"faces must name vertices from 0 to {len(places) - 1}, got {wrong}")
        if on is not None:
            what = "a point with a frame, such as box.at((0, 0, 0))"
            if not validation.instance("on", on, Point, what).has_direction:
                raise InputError(f"on must be {what}, got {quoted(on)}")
            if on.body is not None and on.body.scene is not self:
                raise InputError(f"on must be a point of this scene: add {on.body.name} first")
        for what, flag in (("smooth", smooth), ("instead", instead)):
            if not isinstance(flag, bool | np.bool_):
                raise InputError(f"{what} must be True or False, got {quoted(flag)}")
        if instead and not _is_centre(on):
            raise InputError(f"instead=True needs on=body.at() of a rigid body, got on={quoted(on)}")
        paint = validation.colour("colour", colour)
        painted = None if face_colours is None else _colours("face_colours", face_colours, (len(corners), 3))
        solid = validation.number("opacity", opacity, above=0.0, maximum=1.0)
        taken = [d.name for d in self._decor]
        label = f"decor {len(taken) + 1}" if name is None else _label("name", name, taken)
        decor = Decor(label, places, corners.astype(np.int64), on, paint, painted, bool(smooth), solid, bool(instead))
        self._decor.append(decor)
        return decor


def _is_centre(point: Point | None) -> bool:
    """Whether it is a rigid body's centre of mass, with the body's own axes."""
    if point is None or getattr(point, "local", None) is None:  # which points of rigid bodies have
        return False
    body = point.body
    return bool(np.allclose(point.position, body.position) and np.allclose(point.frame, body.pose.rotation))


def _label(what: str, text: object, taken: list[str]) -> str:
    if not isinstance(text, str) or not text.strip() or len(text) > 60 or not text.isprintable():
        raise InputError(f"{what} must be a short text, got {quoted(text)}")
    if text in taken:
        raise InputError(f"there is a {text!r} already: choose another name")
    return text


def _checked_choices(given: object) -> tuple[str, ...]:
    """What a menu offers."""
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise InputError(f"choices must be a list of short texts, got {quoted(given)}")
    taken: list[str] = []
    for choice in given:
        taken.append(_label("choices", choice, taken))
    return tuple(taken)


def _checked_key(key: object, taken: list[str | None]) -> str:
    """A key that the page does not need itself."""
    if not isinstance(key, str) or len(key) != 1 or not (key.isalnum() and key.isascii()):
        raise InputError(f"key must be a letter or a digit, got {quoted(key)}")
    low = key.lower()
    if low in PAGE_KEYS:
        raise InputError(f"key {low!r} is one of the page's own ({', '.join(PAGE_KEYS)}): choose another")
    if low in taken:
        raise InputError(f"key {low!r} has a control already: choose another")
    return low


def _typed(name: str, value: object) -> str:
    """A text that somebody typed: one line."""
    if not isinstance(value, str) or len(value) > LONGEST_TEXT or not (value.isprintable() or value == ""):
        raise InputError(f"{name} must be a text of one line, at most {LONGEST_TEXT} characters, got {quoted(value)}")
    return value


def _unit(text: object) -> str:
    return "" if isinstance(text, str) and not text else _label("unit", text, [])


def _colours(what: str, value: object, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    numbers = validation.array(what, value, shape)
    if not ((numbers >= 0.0) & (numbers <= 255.0)).all():
        raise InputError(f"{what} must be red, green, blue from 0 to 255, got {quoted(value)}")
    return np.round(numbers).astype(np.uint8)
