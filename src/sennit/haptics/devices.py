"""What a device offers to the haptic loop, and how it gets into the loop's process.

A device is used in the loop's process only, so it travels as data: the import path of its class, and the keyword
arguments that make it again. Its constructor must open nothing; `open`, if there is one, is called in the loop's
process before the first tick.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from sennit.attributes import unchanging
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.validation import FloatArray, quoted

__all__ = ["DeviceLost", "DeviceState", "HapticDevice", "described", "made"]

AT_REST = np.zeros(6)
AT_REST.flags.writeable = False


class DeviceLost(RuntimeError):
    """A device does not answer any more: raised by its `state` and `set_wrench`."""


@unchanging
@dataclass(frozen=True, eq=False, slots=True)
class DeviceState:
    """What a device measures at one moment, in its own frame."""

    pose: Pose
    """Where the handle is and how it is turned: m."""
    velocity: FloatArray = field(default_factory=lambda: AT_REST)
    """(6,): m/s, then rad/s. The loop's damper does not use it: it takes differences of poses, which are passive."""
    buttons: tuple[bool, ...] = ()
    """Whether each is pressed."""
    engaged: bool = True
    """Whether the hand holds on; while it does not, nothing is pulled. The force goes to zero when it lets go, no
    faster than it may change: not within one tick."""


class HapticDevice(Protocol):
    """What the loop needs of a device. All three are called from one thread, once in each tick.

    A class of your own may also have ``open()``, called in the loop's process before the first tick, and must have
    ``recipe()``, unless it is made without arguments: the keyword arguments that make it again, of plain values and
    arrays. Instead of an instance, `HapticLoop` takes the class, or ``functools.partial(Class, port=3)``. One whose
    poses move on by one period with each reading, however late that is, as a script's do, has ``paced_by_ticks =
    True``: the loop takes the hand's way since the last tick for that of a longer time otherwise, when it was late.
    """

    def state(self) -> DeviceState:
        """Read the device. Raises `DeviceLost` (or `OSError`) when it does not answer."""

    def set_wrench(self, force: FloatArray, torque: FloatArray) -> None:
        """Apply a force (N) and a torque (N·m), (3,) each, in the device's frame, to the hand until the next call."""

    def close(self) -> None:
        """Let go of the hardware; the loop has set the wrench to zero before."""


def described(device: Any) -> dict[str, Any]:
    """How to make `device` again: ``{"class": "package.module:Class", "arguments": {...}}``.

    Raises `InputError` for what is no device, and for a class that another process cannot import.
    """
    if isinstance(device, functools.partial):
        maker, arguments = device.func, dict(device.keywords)
        if device.args:
            raise InputError(f"device: give partial its arguments by name, got {quoted(device.args)}")
    elif isinstance(device, type):
        maker, arguments = device, {}
    else:
        maker = type(device)
        missing = [name for name in ("state", "set_wrench", "close") if not callable(getattr(device, name, None))]
        if missing:
            raise InputError(
                f"device must have state(), set_wrench(force, torque) and close(), but {quoted(device)} has no "
                f"{', '.join(missing)}"
            )
        recipe = getattr(device, "recipe", None)
        arguments = dict(recipe()) if callable(recipe) else {}
    module, name = getattr(maker, "__module__", None), getattr(maker, "__qualname__", None)
    if module is None or name is None or module == "__main__" or "<" in name:
        raise InputError(
            f"device: the loop's process cannot import {quoted(maker)}, since it stands in "
            f"{'the main script' if module == '__main__' else 'a function'}: move its class into a module (a file of "
            "its own beside the script will do) and import it from there"
        )
    return {"class": f"{module}:{name}", "arguments": arguments}


def made(recipe: Mapping[str, Any]) -> HapticDevice:
    """The device of a recipe that `described` wrote; not opened yet."""
    module, _, name = recipe["class"].partition(":")
    maker: Any = importlib.import_module(module)
    for part in name.split("."):
        maker = getattr(maker, part)
    device: HapticDevice = maker(**recipe["arguments"])
    return device
