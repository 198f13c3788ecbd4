"""Devices that go wrong, in a module that the loop's process can import."""

from __future__ import annotations

import time

import numpy as np

from sennit import Pose
from sennit.haptics import DeviceLost, DeviceState


class Fading:
    """Prints, and is lost after `reads` readings; what it was last told to apply comes back as its record."""

    def __init__(self, place: object, reads: int = 50) -> None:
        self.place, self.reads = np.asarray(place, dtype=float), reads
        self.wrench = np.full(6, np.nan)
        self.count = 0

    def recipe(self) -> dict[str, object]:
        return {"place": self.place, "reads": self.reads}

    def state(self) -> DeviceState:
        self.count += 1
        if self.count > self.reads:
            raise DeviceLost("out of reach")
        print("the wire must not see this")
        return DeviceState(Pose(self.place))

    def set_wrench(self, force: np.ndarray, torque: np.ndarray) -> None:
        self.wrench = np.concatenate((force, torque))

    def close(self) -> None:
        pass

    def record(self) -> np.ndarray:
        return self.wrench

    def take_record(self, record: np.ndarray) -> None:
        self.wrench = record


class Slow(Fading):
    """Takes 5 ms for each reading."""

    def state(self) -> DeviceState:
        time.sleep(5e-3)
        return DeviceState(Pose(self.place))


class Absent(Fading):
    """Cannot be opened."""

    def open(self) -> None:
        raise DeviceLost("nothing is plugged in")
