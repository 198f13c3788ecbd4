"""What a page offers beside the picture: sliders, switches and buttons that act on a scene, and values to plot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sennit import validation
from sennit.errors import InputError
from sennit.validation import quoted

__all__ = ["Control", "Dashboard", "Watch"]


@dataclass(eq=False, slots=True)
class Control:
    """One slider, switch or button; made by `Dashboard.control`."""

    name: str
    act: Callable[..., object]
    """Called with the new value; a button's without arguments."""
    value: float | bool | None
    """Present value; None for a button."""
    range: tuple[float, float] | None
    """Least and largest value; None for switches and buttons."""
    unit: str
    start: float | bool | None
    """The value that it was declared with."""

    @property
    def kind(self) -> str:
        """``"slider"``, ``"switch"`` or ``"button"``."""
        if self.range is not None:
            return "slider"
        return "button" if self.value is None else "switch"

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
        else:
            self.act()


@dataclass(frozen=True, eq=False, slots=True)
class Watch:
    """One value that is plotted over time; made by `Dashboard.watch`."""

    name: str
    read: Callable[[], float]
    unit: str


class Dashboard:
    """Declares controls and watches; a `Scene` is one."""

    def __init__(self) -> None:
        super().__init__()
        self._controls: list[Control] = []
        self._watches: list[Watch] = []

    @property
    def controls(self) -> tuple[Control, ...]:
        """Sliders, switches and buttons, in the order in which they were declared."""
        return tuple(self._controls)

    @property
    def watches(self) -> tuple[Watch, ...]:
        """The values that a page plots."""
        return tuple(self._watches)

    def control(
        self, name: str, act: Callable[..., object], value: float | bool | None = None, *,
        range: tuple[float, float] | None = None, unit: str = "",
    ) -> Control:  # fmt: skip
        """Declare a parameter that a person changes on the page, in one line::

            scene.control("winch speed", cable.drive, 0.0, range=(-0.5, 0.5), unit="m/s")    # a slider
            scene.control("brake", set_brake, False)                                         # a switch
            scene.control("shoot", loose)                                                    # a button

        `act` is called with the new value between two steps, not before it is first changed. Controls are not saved
        with the scene. Raises `InputError` for a name that is taken, a range that is empty, a value outside it.
        """
        label = _label("name", name, [c.name for c in self._controls])
        if not callable(act):
            raise InputError(f"act must be a function of the new value, got {quoted(act)}")
        unit = _label("unit", unit, []) if unit else ""
        limits: tuple[float, float] | None = None
        if range is not None:
            low, high = validation.array("range", range, (2,)).tolist()
            if not low < high:
                raise InputError(f"range must be (least, largest) with least < largest, got ({low:g}, {high:g})")
            limits = (low, high)
            value = low if value is None else validation.number("value", value, minimum=low, maximum=high)
        elif value is not None and not isinstance(value, bool):
            raise InputError(f"{label}: a slider needs range=(least, largest); a switch True or False, got {value!r}")
        control = Control(label, act, value, limits, unit, value)
        self._controls.append(control)
        return control

    def watch(self, name: str, read: Callable[[], float], unit: str = "") -> Watch:
        """Declare a value that a page plots over time: ``scene.watch("rope", lambda: cable.tension, unit="N")``."""
        label = _label("name", name, [w.name for w in self._watches])
        if not callable(read):
            raise InputError(f"read must be a function without arguments, got {quoted(read)}")
        watch = Watch(label, read, _label("unit", unit, []) if unit else "")
        self._watches.append(watch)
        return watch


def _label(what: str, text: object, taken: list[str]) -> str:
    if not isinstance(text, str) or not text.strip() or len(text) > 60 or not text.isprintable():
        raise InputError(f"{what} must be a short text, got {quoted(text)}")
    if text in taken:
        raise InputError(f"there is a {text!r} already: choose another name")
    return text
