"""Adapters for haptic hardware. Vendors' packages are imported when a device is opened, in the loop's process."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from sennit import validation
from sennit.attributes import guarded
from sennit.geometry.pose import Pose
from sennit.geometry.rotations import matrix_to_quaternion, quaternion_product, rotation_exp
from sennit.haptics.devices import DeviceLost, DeviceState
from sennit.validation import FloatArray

__all__ = ["ForceDimensionDevice", "HaplyDevice", "OpenHapticsDevice", "SpaceMouseDevice"]

_UPRIGHT = np.array((1.0, 0.0, 0.0, 0.0))
SILENCE = 0.1
"""Time after which a device that calls back and has not done so is lost, s."""


def _imported(module: str, package: str, driver: str) -> Any:
    """A vendor's package, or an error that names it and the driver that it needs."""
    try:
        return importlib.import_module(module)
    except (ImportError, OSError, AttributeError) as problem:  # bindings without their library fail in all three ways
        raise ImportError(
            f"this device needs the Python package {package} (pip install {package}) and {driver}: {problem}"
        ) from problem


def _buttons(mask: int, count: int) -> tuple[bool, ...]:
    return tuple(bool(mask >> k & 1) for k in range(count))


@guarded()
class ForceDimensionDevice:
    """Delta, omega, sigma, lambda and Falcon devices, through forcedimension-core and Force Dimension's SDK.

    `index`: which of several, in the system's order; None: the first. Axes: x towards the user, y to the right, z up.
    Torques are set on devices with an active wrist.
    """

    index: int | None
    """Which of several; None: the first."""

    def __init__(self, index: int | None = None) -> None:
        self.index = None if index is None else validation.count("index", index)

    def recipe(self) -> dict[str, Any]:
        """What makes it again in the loop's process."""
        return {"index": self.index}

    def open(self) -> None:
        """Connect, and switch the motors on."""
        self._dhd = dhd = _imported("forcedimension_core.dhd", "forcedimension-core", "Force Dimension's SDK")
        self._id: int = dhd.open() if self.index is None else dhd.openID(self.index)
        if self._id < 0:
            raise DeviceLost(f"no Force Dimension device can be opened: {dhd.errorGetLastStr()}")
        self._wrist, self._active = dhd.hasWrist(self._id), dhd.hasActiveWrist(self._id)
        self._place, self._turn = [0.0] * 3, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        self._linear, self._angular = [0.0] * 3, [0.0] * 3
        dhd.setGravityCompensation(True, self._id)
        self._check(dhd.enableForce(True, self._id))

    def _check(self, result: int) -> None:
        # Positive results are notices: the position is not new, a motor is at its limit.
        if result < 0:
            raise DeviceLost(f"the Force Dimension device does not answer: {self._dhd.errorGetLastStr()}")

    def state(self) -> DeviceState:
        """Position, rotation (of a device with a wrist), velocity, buttons."""
        dhd = self._dhd
        quaternion = _UPRIGHT
        if self._wrist:
            self._check(dhd.getPositionAndOrientationFrame(self._place, self._turn, self._id))
            quaternion = matrix_to_quaternion(self._turn)
        else:
            self._check(dhd.getPosition(self._place, self._id))
        velocity = np.zeros(6)
        # The estimators of velocity need some positions first, and fail until then.
        if dhd.getLinearVelocity(self._linear, self._id) >= 0:
            velocity[:3] = self._linear
        if self._wrist and dhd.getAngularVelocityRad(self._angular, self._id) >= 0:
            velocity[3:] = self._angular
        return DeviceState(Pose(self._place, quaternion), velocity, _buttons(dhd.getButtonMask(self._id), 8))

    def set_wrench(self, force: FloatArray, torque: FloatArray) -> None:
        """Set the motors."""
        if self._active:
            self._check(self._dhd.setForceAndTorque(force.tolist(), torque.tolist(), self._id))
        else:
            self._check(self._dhd.setForce(force.tolist(), self._id))

    def close(self) -> None:
        """Let go: the device brakes."""
        self._dhd.stop(self._id)
        self._dhd.close(self._id)


@guarded()
class OpenHapticsDevice:
    """Touch and Touch X, through pyOpenHaptics and 3D Systems' OpenHaptics.

    `name`: as in the vendor's setup. Axes here: x to the right, y away from the user, z up. No torques.
    """

    name: str
    """As in the vendor's setup."""

    def __init__(self, name: str = "Default Device") -> None:
        self.name = validation.label("name", name) or "Default Device"

    def recipe(self) -> dict[str, Any]:
        """What makes it again in the loop's process."""
        return {"name": self.name}

    def open(self) -> None:
        """Start the vendor's servo loop, which calls back a thousand times a second."""
        driver = "3D Systems' OpenHaptics with the device's driver"
        self._hd = _imported("pyOpenHaptics.hd", "pyOpenHaptics", driver)
        callback = _imported("pyOpenHaptics.hd_callback", "pyOpenHaptics", driver).hd_callback
        maker: Callable[..., Any] = _imported("pyOpenHaptics.hd_device", "pyOpenHaptics", driver).HapticDevice
        self._read: tuple[list[list[float]], int] | None = None
        self._force = [0.0, 0.0, 0.0]
        self._heard = time.monotonic()

        def servo() -> None:
            self._read = [list(row) for row in self._hd.get_transform()], self._hd.get_buttons()
            self._hd.set_force(self._force)
            self._heard = time.monotonic()

        self._servo = callback(servo)  # the vendor's scheduler holds no reference
        try:
            self._device = maker(callback=self._servo, device_name=self.name, scheduler_type="async")
        except Exception as problem:
            raise DeviceLost(f"no OpenHaptics device called {self.name!r} can be opened: {problem}") from problem
        deadline = time.monotonic() + 2.0
        while self._read is None:
            if time.monotonic() > deadline:
                raise DeviceLost(f"the OpenHaptics device {self.name!r} does not answer: is it connected and set up?")
            time.sleep(0.01)

    def _check(self) -> None:
        if time.monotonic() - self._heard > SILENCE:
            raise DeviceLost("OpenHaptics has stopped its servo loop: the device was disconnected or reported an error")

    def state(self) -> DeviceState:
        """Position, rotation and buttons at the last call of the servo loop."""
        self._check()
        assert self._read is not None
        # Columns of the transform are rows here; its last one is the position, in mm; y is up and z to the user.
        rows, mask = self._read
        columns = np.array(rows)[:, :3]
        axes = np.stack((columns[0], columns[1], columns[2]), axis=1)
        turned = _TO_Z_UP @ axes @ _TO_Z_UP.T
        return DeviceState(
            Pose(_TO_Z_UP @ columns[3] / 1000.0, matrix_to_quaternion(turned)), buttons=_buttons(mask, 4)
        )

    def set_wrench(self, force: FloatArray, torque: FloatArray) -> None:
        """Hand the force over to the servo loop."""
        self._force = (_TO_Z_UP.T @ force).tolist()
        self._check()

    def close(self) -> None:
        """Stop the servo loop."""
        self._device.close()


_TO_Z_UP = np.array(((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)))


@guarded()
class HaplyDevice:
    """Inverse3, through HaplyHardwareAPI: position and force, no rotation.

    `port`: its serial port; None: the first that is found. Axes are the device's own.
    """

    port: str | None
    """Its serial port; None: the first that is found."""

    def __init__(self, port: str | None = None) -> None:
        self.port = validation.label("port", port)

    def recipe(self) -> dict[str, Any]:
        """What makes it again in the loop's process."""
        return {"port": self.port}

    def open(self) -> None:
        """Wake the device up."""
        api = _imported("HaplyHardwareAPI", "HaplyHardwareAPI", "the right to use serial ports")
        port = self.port
        if port is None:
            found = api.detect_inverse3s()
            if not found:
                raise DeviceLost("no Inverse3 was found: is it connected and switched on?")
            port = found[0]
        self._stream = api.SerialStream(port)
        self._device = api.Inverse3(self._stream)
        self._device.device_wakeup_dict()
        self.set_wrench(np.zeros(3), np.zeros(3))

    def state(self) -> DeviceState:
        """Position and velocity, as they came back with the last force: the device answers once to each."""
        position, velocity = self._answer
        twist = np.zeros(6)
        twist[:3] = velocity
        return DeviceState(Pose(position, _UPRIGHT), twist)

    def set_wrench(self, force: FloatArray, torque: FloatArray) -> None:
        """Send the force, and take the state that comes back."""
        self._answer = self._device.end_effector_force(force.tolist())

    def close(self) -> None:
        """Send no force any more."""
        self._device.end_effector_force([0.0, 0.0, 0.0])


@guarded()
class SpaceMouseDevice:
    """3Dconnexion's SpaceMouse, through pyspacemouse: it moves and turns the hand; it has no force.

    Pushed all the way it moves the hand with `speed` (m/s) and turns it with `turn_speed` (rad/s). Axes: x to the
    right, y away from the user, z up. `rate`: ticks per second.
    """

    speed: float
    """Of the hand, pushed all the way, m/s."""
    turn_speed: float
    """Likewise, rad/s."""
    rate: float
    """Ticks per second."""

    def __init__(self, *, speed: float = 0.1, turn_speed: float = 1.0, rate: float = 1000.0) -> None:
        self.speed = validation.number("speed", speed, minimum=0.0)
        self.turn_speed = validation.number("turn_speed", turn_speed, minimum=0.0)
        self.rate = validation.number("rate", rate, positive=True)

    def recipe(self) -> dict[str, Any]:
        """What makes it again in the loop's process."""
        return {"speed": self.speed, "turn_speed": self.turn_speed, "rate": self.rate}

    def open(self) -> None:
        """Connect to the first that is found."""
        api = _imported("pyspacemouse", "pyspacemouse", "the HID library hidapi")
        convention = getattr(api, "AxisConvention", None)
        if convention is None:
            raise ImportError("this device needs pyspacemouse 2.1 or later: pip install --upgrade pyspacemouse")
        try:
            self._device = api.open(axis_convention=convention.HID_Z_UP)
        except (RuntimeError, ValueError, OSError) as problem:
            raise DeviceLost(f"no SpaceMouse can be opened: {problem}") from problem
        self._place, self._quaternion = np.zeros(3), _UPRIGHT.copy()

    def state(self) -> DeviceState:
        """Where the hand has been moved to so far."""
        read = self._device.read()
        velocity = np.array((read.x, read.y, read.z, read.roll, read.pitch, read.yaw))
        velocity[:3] *= self.speed
        velocity[3:] *= self.turn_speed
        self._place = self._place + velocity[:3] / self.rate
        turned = quaternion_product(rotation_exp(velocity[3:] / self.rate), self._quaternion)
        self._quaternion = turned / np.linalg.norm(turned)
        pose = Pose._trusted(self._place.copy(), self._quaternion.copy())
        return DeviceState(pose, velocity, tuple(bool(x) for x in read.buttons))

    def set_wrench(self, force: FloatArray, torque: FloatArray) -> None:
        """It has no motors."""

    def close(self) -> None:
        """Disconnect."""
        self._device.close()
