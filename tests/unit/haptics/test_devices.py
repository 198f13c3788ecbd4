"""Devices: the scripted one and the mouse, how devices travel, and adapters against stand-ins for vendors' packages."""

from __future__ import annotations

import functools
import math
import sys
import types

import numpy as np
import pytest

import sennit as sn
from sennit import InputError, Pose
from sennit.haptics import (
    DeviceLost,
    ForceDimensionDevice,
    HaplyDevice,
    MouseDevice,
    OpenHapticsDevice,
    ScriptedDevice,
    SpaceMouseDevice,
)
from sennit.haptics.board import MOUSE, Sheet
from sennit.haptics.devices import described, made
from sennit.haptics.packing import packed, unpacked

ZERO = np.zeros(3)


class Own:
    """A device of a user's, made without arguments."""

    def state(self) -> None: ...

    def set_wrench(self, force: np.ndarray, torque: np.ndarray) -> None: ...

    def close(self) -> None: ...


# ----------------------------------------------------------------------------------------------------------- scripts


def test_a_function_is_sampled_once_for_each_tick() -> None:
    device = ScriptedDevice(lambda t: (math.sin(t), 0.0, t), seconds=0.2, rate=500)
    assert device.samples.shape == (100, 7) and device.ticks == 100
    np.testing.assert_allclose(device.samples[50], (math.sin(0.1), 0.0, 0.1, 1.0, 0.0, 0.0, 0.0))
    first, second = device.state(), device.state()
    assert first.pose == Pose((0.0, 0.0, 0.0)) and first.engaged
    np.testing.assert_allclose(second.velocity[:3], (500 * math.sin(0.002), 0.0, 1.0))


def test_a_script_stays_at_its_end_or_begins_again() -> None:
    rows = np.arange(9.0).reshape(3, 3)
    still, again = ScriptedDevice(rows), ScriptedDevice(rows, repeat=True)
    for _ in range(4):
        last, first = still.state().pose, again.state().pose
    np.testing.assert_array_equal(last.position, rows[2])
    np.testing.assert_array_equal(first.position, rows[0])
    assert again.ticks is None


def test_rows_with_times_are_interpolated() -> None:
    half = (math.cos(math.pi / 4), 0.0, 0.0, math.sin(math.pi / 4))  # a quarter turn
    rows = [(0, 0, 0, 1, 0, 0, 0), (1, 0, 0, *half)]
    device = ScriptedDevice(rows, times=(1.0, 1.1), rate=1000)
    assert len(device.samples) == 101
    np.testing.assert_allclose(device.samples[50, :3], (0.5, 0.0, 0.0), atol=1e-12)
    np.testing.assert_allclose(device.samples[50, 3:], (math.cos(math.pi / 8), 0, 0, math.sin(math.pi / 8)), atol=1e-12)


def test_wrenches_are_kept_one_for_each_tick() -> None:
    device = ScriptedDevice(np.zeros((3, 3)))
    for k in range(2):
        device.state()
        device.set_wrench(np.full(3, k + 1.0), np.full(3, -1.0))
    device.set_wrench(ZERO, ZERO)  # the end of a loop
    np.testing.assert_array_equal(device.wrenches, [[1, 1, 1, -1, -1, -1], [2, 2, 2, -1, -1, -1]])


def test_wrenches_of_a_script_that_repeats_are_the_last_in_order() -> None:
    device = ScriptedDevice(np.zeros((3, 3)), repeat=True)
    for k in range(7):
        device.state()
        device.set_wrench(np.full(3, float(k)), ZERO)
        np.testing.assert_array_equal(device.forces[:, 0], range(max(k - 2, 0), k + 1))
    other = ScriptedDevice(np.zeros((3, 3)), repeat=True)
    other.take_record(device.record())
    np.testing.assert_array_equal(other.forces[:, 0], (4, 5, 6))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"path": lambda t: (0, 0, t)}, "needs seconds="),
        ({"path": lambda t: (0, 0), "seconds": 1}, r"path\(0\)"),
        ({"path": np.zeros((3, 4))}, "path must be an array"),
        ({"path": np.zeros((0, 3))}, "path must have 1 to"),
        ({"path": np.zeros((3, 7))}, "no rotation"),
        ({"path": np.zeros((3, 3)), "times": (0, 2, 1)}, "times must be two or more that grow"),
        ({"path": np.zeros((3, 3)), "seconds": -1}, "seconds must be"),
        ({"path": lambda t: (0, 0, 0), "seconds": 1e9}, "seconds × rate"),
        ({"path": np.zeros((3, 3)), "rate": 0}, "rate must be"),
    ],
)
def test_scripts_that_make_no_sense(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ScriptedDevice(**arguments)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------------------- mouse


def test_a_mouse_holds_on_only_when_it_does() -> None:
    mouse = MouseDevice(smoothing=0.02)
    mouse.move((1.0, 2.0, 3.0))
    assert not mouse.state().engaged
    mouse.grab()
    state = mouse.state()
    assert state.engaged
    np.testing.assert_array_equal(state.pose.position, (1.0, 2.0, 3.0))  # it begins where it is, without a way there
    mouse.release()
    assert not mouse.state().engaged


def test_a_mouse_is_smoothed_with_its_time_constant() -> None:
    mouse = MouseDevice(smoothing=0.02, rate=1000)
    mouse.grab()
    mouse.state()
    mouse.move((1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
    places = [mouse.state().pose.position[0] for _ in range(40)]
    np.testing.assert_allclose(places, 1.0 - np.exp(-np.arange(1, 41) / 20.0), rtol=1e-12)
    state = mouse.state()
    assert state.velocity[0] > 0.0
    assert np.linalg.norm(state.pose.quaternion) == pytest.approx(1.0)


def test_a_mouse_is_moved_from_another_process() -> None:
    """Both sides write to and read from one sheet."""
    sheet = Sheet(np.zeros(1 + sum(MOUSE.values())), MOUSE)
    here, there = MouseDevice(smoothing=0.0), MouseDevice(smoothing=0.0)
    here.move((1.0, 0.0, 0.0))
    here.connect(sheet)
    there.connect(sheet)
    here.grab()
    here.move((4.0, 5.0, 6.0))
    np.testing.assert_array_equal(there.state().pose.position, (4.0, 5.0, 6.0))


def test_a_mouse_refuses_what_is_no_place() -> None:
    mouse = MouseDevice()
    for bad in ((1.0, 2.0), (math.nan, 0.0, 0.0), "here"):
        with pytest.raises(InputError, match="position"):
            mouse.move(bad)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="quaternion"):
        mouse.move((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0))
    np.testing.assert_array_equal(mouse.state().pose.position, ZERO)


# ----------------------------------------------------------------------------------------------------------- recipes


@pytest.mark.parametrize(
    "device",
    [
        ScriptedDevice(np.arange(21.0).reshape(3, 7) + 1.0, repeat=True),
        MouseDevice(smoothing=0.05),
        ForceDimensionDevice(2),
        OpenHapticsDevice("left"),
        HaplyDevice("/dev/ttyACM0"),
        SpaceMouseDevice(speed=0.3),
    ],
)
def test_devices_travel_as_data(device: object) -> None:
    plain, payload = packed(described(device))
    again = made(unpacked(plain, payload))
    assert type(again) is type(device)
    mine, other = device.recipe(), again.recipe()  # type: ignore[attr-defined]
    assert mine.keys() == other.keys()
    for key, value in mine.items():
        np.testing.assert_array_equal(value, other[key])


def test_devices_of_users_travel_by_the_name_of_their_class() -> None:
    for device in (Own(), Own, functools.partial(Own)):
        assert described(device)["class"] == f"{__name__}:Own"
    port = functools.partial(ForceDimensionDevice, index=3)
    assert made(described(port)).index == 3  # type: ignore[attr-defined]


def test_devices_that_cannot_travel() -> None:
    class Local(Own):
        pass

    main = type("Mine", (Own,), {"__module__": "__main__"})
    for device in (Local(), main()):
        with pytest.raises(InputError, match="move its class into a module"):
            described(device)
    with pytest.raises(InputError, match=r"has no state, set_wrench, close"):
        described(3)
    with pytest.raises(InputError, match="by name"):
        described(functools.partial(ForceDimensionDevice, 3))
    with pytest.raises(InputError, match="only numbers, texts, arrays"):
        packed(described(functools.partial(Own, hand=object())))


def test_packing_keeps_every_bit() -> None:
    value = {
        "a": [1, 2.5, None, True, "x"],
        "b": {"c": np.array((0.1, math.pi)), "d": np.arange(3)},
        "e": np.float64(3),
    }
    again = unpacked(*packed(value))
    assert again["a"] == value["a"] and again["e"] == 3.0
    np.testing.assert_array_equal(again["b"]["c"], value["b"]["c"])  # type: ignore[index]
    assert again["b"]["d"].dtype == np.arange(3).dtype


# ---------------------------------------------------------------------------------------------------------- hardware


@pytest.mark.parametrize(
    ("device", "module", "package"),
    [
        (ForceDimensionDevice(), "forcedimension_core", "forcedimension-core"),
        (OpenHapticsDevice(), "pyOpenHaptics", "pyOpenHaptics"),
        (HaplyDevice(), "HaplyHardwareAPI", "HaplyHardwareAPI"),
        (SpaceMouseDevice(), "pyspacemouse", "pyspacemouse"),
    ],
)
def test_a_missing_package_is_named(
    device: HaplyDevice, module: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)  # an import of it fails
    with pytest.raises(ImportError, match=f"pip install {package}"):
        device.open()


class FakeDhd(types.ModuleType):
    """forcedimension_core.dhd as far as it is used: results go to lists, −1 says that a call failed."""

    def __init__(self, wrist: bool, active: bool) -> None:
        super().__init__("forcedimension_core.dhd")
        self.wrist, self.active, self.answers = wrist, active, True
        self.calls: list[tuple[object, ...]] = []

    def open(self) -> int:
        return 4 if self.answers else -1

    def openID(self, index: int) -> int:
        return index

    def errorGetLastStr(self) -> str:
        return "device not found"

    def hasWrist(self, ID: int = -1) -> bool:
        return self.wrist

    def hasActiveWrist(self, ID: int = -1) -> bool:
        return self.active

    def setGravityCompensation(self, enable: bool, ID: int = -1) -> int:
        return 0

    def enableForce(self, enable: bool, ID: int = -1) -> int:
        self.calls.append(("enableForce", enable, ID))
        return 0

    def getPosition(self, out: list[float], ID: int = -1) -> int:
        out[:] = (0.1, 0.2, 0.3)
        return 1 if self.answers else -1  # 1: not a new one

    def getPositionAndOrientationFrame(self, p_out: list[float], matrix_out: list[list[float]], ID: int = -1) -> int:
        p_out[:] = (0.1, 0.2, 0.3)
        for i, row in enumerate(((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))):
            matrix_out[i][:] = row
        return 0 if self.answers else -1

    def getLinearVelocity(self, out: list[float], ID: int = -1) -> int:
        out[:] = (1.0, 0.0, 0.0)
        return 0

    def getAngularVelocityRad(self, out: list[float], ID: int = -1) -> int:
        return -1  # too few positions yet

    def getButtonMask(self, ID: int = -1) -> int:
        return 0b101

    def setForce(self, f: list[float], ID: int = -1) -> int:
        self.calls.append(("setForce", f, ID))
        return 2 if self.answers else -1  # 2: a motor is at its limit

    def setForceAndTorque(self, f: list[float], t: list[float], ID: int = -1) -> int:
        self.calls.append(("setForceAndTorque", f, t, ID))
        return 0 if self.answers else -1

    def stop(self, ID: int = -1) -> int:
        self.calls.append(("stop", ID))
        return 0

    def close(self, ID: int = -1) -> int:
        self.calls.append(("close", ID))
        return 0


@pytest.mark.parametrize("wrist", [False, True])
def test_force_dimension(wrist: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    dhd = FakeDhd(wrist, wrist)
    monkeypatch.setitem(sys.modules, "forcedimension_core", types.ModuleType("forcedimension_core"))
    monkeypatch.setitem(sys.modules, "forcedimension_core.dhd", dhd)
    device = ForceDimensionDevice()
    device.open()
    state = device.state()
    np.testing.assert_array_equal(state.pose.position, (0.1, 0.2, 0.3))
    quarter = (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)) if wrist else (1.0, 0.0, 0.0, 0.0)
    np.testing.assert_allclose(state.pose.quaternion, quarter)
    np.testing.assert_array_equal(state.velocity, (1.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    assert state.buttons[:3] == (True, False, True)
    device.set_wrench(np.array((1.0, 2.0, 3.0)), np.array((4.0, 5.0, 6.0)))
    sent = ("setForceAndTorque", [1.0, 2.0, 3.0], [4.0, 5.0, 6.0], 4) if wrist else ("setForce", [1.0, 2.0, 3.0], 4)
    assert dhd.calls[-1] == sent
    device.close()
    assert dhd.calls[-2:] == [("stop", 4), ("close", 4)]
    dhd.answers = False
    for call in (device.state, lambda: device.set_wrench(ZERO, ZERO), ForceDimensionDevice().open):
        with pytest.raises(DeviceLost, match="device not found"):
            call()


def fake_openhaptics(monkeypatch: pytest.MonkeyPatch) -> types.SimpleNamespace:
    """pyOpenHaptics as far as it is used; `servo()` is one call of the vendor's scheduler."""
    package, hd, callback, device = (
        types.ModuleType(f"pyOpenHaptics{x}") for x in ("", ".hd", ".hd_callback", ".hd_device")
    )
    world = types.SimpleNamespace(force=None, closed=False, present=True, servo=None)
    # columns of the transform are rows; the device is turned by a quarter about its y, which is up
    transform = ((0, 0, -1, 0), (0, 1, 0, 0), (1, 0, 0, 0), (10.0, 20.0, 30.0, 1))
    hd.get_transform = lambda: transform  # type: ignore[attr-defined]
    hd.get_buttons = lambda: 2  # type: ignore[attr-defined]
    hd.set_force = lambda force: setattr(world, "force", list(force))  # type: ignore[attr-defined]
    callback.hd_callback = lambda function: function  # type: ignore[attr-defined]

    class HapticDevice:
        def __init__(self, callback: object, device_name: str = "", scheduler_type: str = "async") -> None:
            if not world.present:
                raise AttributeError("'NoneType' object has no attribute 'decode'")  # what happens without a device
            world.servo = callback
            world.servo()

        def close(self) -> None:
            world.closed = True

    device.HapticDevice = HapticDevice  # type: ignore[attr-defined]
    for module in (package, hd, callback, device):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return world


def test_openhaptics(monkeypatch: pytest.MonkeyPatch) -> None:
    world = fake_openhaptics(monkeypatch)
    device = OpenHapticsDevice()
    device.open()
    state = device.state()
    np.testing.assert_allclose(state.pose.position, (0.010, -0.030, 0.020))  # mm to m; up is z
    # a quarter turn about the vertical axis
    np.testing.assert_allclose(state.pose.quaternion, (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)), atol=1e-12)
    assert state.buttons == (False, True, False, False)
    device.set_wrench(np.array((1.0, 2.0, 3.0)), ZERO)
    world.servo()
    assert world.force == [1.0, 3.0, -2.0]
    device._heard -= 1.0  # the servo loop has been silent for a second
    with pytest.raises(DeviceLost, match="stopped its servo loop"):
        device.state()
    device.close()
    assert world.closed
    world.present = False
    with pytest.raises(DeviceLost, match="Default Device"):
        OpenHapticsDevice().open()


def test_haply(monkeypatch: pytest.MonkeyPatch) -> None:
    api = types.ModuleType("HaplyHardwareAPI")
    sent: list[list[float]] = []

    class Inverse3:
        def __init__(self, stream: str) -> None:
            assert stream == "stream on /dev/ttyACM1"

        def device_wakeup_dict(self) -> dict[str, int]:
            return {"device_id": 1}

        def end_effector_force(self, force: list[float]) -> tuple[list[float], list[float]]:
            sent.append(force)
            return [0.1, 0.2, 0.1 * len(sent)], [0.0, 0.0, 1.0]

    api.detect_inverse3s = lambda: ["/dev/ttyACM1"]  # type: ignore[attr-defined]
    api.SerialStream = lambda port: f"stream on {port}"  # type: ignore[attr-defined]
    api.Inverse3 = Inverse3  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "HaplyHardwareAPI", api)
    device = HaplyDevice()
    device.open()
    assert sent == [[0.0, 0.0, 0.0]]
    device.set_wrench(np.array((1.0, 2.0, 3.0)), ZERO)
    assert sent[-1] == [1.0, 2.0, 3.0]
    state = device.state()
    np.testing.assert_allclose(state.pose.position, (0.1, 0.2, 0.2))
    np.testing.assert_array_equal(state.velocity, (0, 0, 1, 0, 0, 0))
    device.close()
    assert sent[-1] == [0.0, 0.0, 0.0]
    api.detect_inverse3s = list  # type: ignore[attr-defined]
    with pytest.raises(DeviceLost, match="no Inverse3"):
        HaplyDevice().open()


def test_spacemouse(monkeypatch: pytest.MonkeyPatch) -> None:
    api = types.ModuleType("pyspacemouse")
    read = types.SimpleNamespace(x=1.0, y=0.0, z=-0.5, roll=0.0, pitch=0.0, yaw=1.0, buttons=[0, 1])
    mouse = types.SimpleNamespace(read=lambda: read, close=lambda: None)
    api.AxisConvention = types.SimpleNamespace(HID_Z_UP="hid_z_up")  # type: ignore[attr-defined]
    asked: list[str] = []

    def opened(*, axis_convention: str) -> types.SimpleNamespace:
        asked.append(axis_convention)
        return mouse

    api.open = opened  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pyspacemouse", api)
    device = SpaceMouseDevice(speed=0.2, turn_speed=0.5, rate=1000)
    device.open()
    assert asked == ["hid_z_up"]
    for _ in range(1000):
        state = device.state()
    # a second at full speed along x, at half speed down, at full speed about z
    np.testing.assert_allclose(state.pose.position, (0.2, 0.0, -0.1), atol=1e-12)
    np.testing.assert_allclose(state.pose.quaternion, (math.cos(0.25), 0.0, 0.0, math.sin(0.25)), atol=1e-12)
    assert state.buttons == (False, True)

    def nothing(*, axis_convention: str) -> None:
        raise RuntimeError("No connected or supported devices found.")

    api.open = nothing  # type: ignore[attr-defined]
    with pytest.raises(DeviceLost, match="No connected"):
        SpaceMouseDevice().open()
    del api.AxisConvention
    with pytest.raises(ImportError, match="--upgrade"):
        SpaceMouseDevice().open()


def test_public_names_are_there() -> None:
    import sennit.haptics as haptics

    assert all(hasattr(haptics, name) for name in haptics.__all__)
    assert sn.VirtualCoupling(1.0).stiffness == 1.0
