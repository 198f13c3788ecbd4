"""The haptic loop: a simulation at 1 kHz in a process of its own, with a hand in it.

`HapticLoop` takes a scene or a strand and a device, and couples them by a spring and a damper. The devices are in
`devices` (what all of them offer), `scripted`, `mouse` and `hardware`.
"""

from __future__ import annotations

from sennit.haptics.devices import DeviceLost, DeviceState, HapticDevice
from sennit.haptics.hardware import ForceDimensionDevice, HaplyDevice, OpenHapticsDevice, SpaceMouseDevice
from sennit.haptics.loop import HapticLoop
from sennit.haptics.mouse import MouseDevice
from sennit.haptics.scripted import ScriptedDevice
from sennit.haptics.statistics import Statistics

__all__ = [
    "DeviceLost",
    "DeviceState",
    "ForceDimensionDevice",
    "HaplyDevice",
    "HapticDevice",
    "HapticLoop",
    "MouseDevice",
    "OpenHapticsDevice",
    "ScriptedDevice",
    "SpaceMouseDevice",
    "Statistics",
]
