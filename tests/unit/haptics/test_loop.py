"""The loop in its own process. No time is asserted: only what is done, and that it ends."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from unit.haptics.odd_devices import Absent, Fading, Slow

import sennit as sn
from sennit import InputError
from sennit.demos import suture
from sennit.haptics import ForceDimensionDevice, HapticLoop, MouseDevice, ScriptedDevice
from sennit.haptics.subjects import SceneSubject, StrandSubject

COUPLING = sn.VirtualCoupling(300.0, 2.0, rotational_stiffness=0.2, rotational_damping=1e-3)
PATIENCE = 120.0  # s: of a test for another process, on a machine that has much else to do


def assembled() -> tuple[sn.Scene, sn.Rod, sn.Cable, sn.Pearl]:
    """A rope with a pearl, a box on a cable with a slack part: some of everything that has a state."""
    scene = sn.Scene(drag=0.2, integrator="bdf2")
    material = sn.Material(5e6, 0.4, 1100.0, relaxation_time=2e-3)
    rope = scene.add(
        sn.Rod.straight((0, 0, 1), (1, 0, 1), section=sn.Section.circle(0.01), material=material, control_points=8)
    )
    scene.add(sn.Clamp(rope.at(0.0)))
    pearl = scene.add(sn.Pearl(rope, 0.3, mass=0.01, radius=0.012, friction=0.05))
    box = scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=0.3, position=(1.0, 0.0, 0.4)))
    cable = scene.add(sn.Cable([rope.at(1.0), box.at((0.0, 0.0, 0.05))], stretch_stiffness=500.0))
    scene.add(sn.Load(box.at(), force=(0.1, 0.0, 0.0)))
    scene.run(0.05, 1e-3)
    return scene, rope, cable, pearl


def path(t: float) -> sn.Pose:
    turn = 0.3 * math.sin(9.0 * t)
    place = (0.6 + 0.05 * math.sin(7.0 * t), 0.08 * math.sin(11.0 * t), 1.0 + 0.05 * math.sin(5.0 * t))
    return sn.Pose.along(place, (math.cos(turn), math.sin(turn), 0.0))


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.02)


def test_a_loop_does_what_steps_do_and_hands_the_scene_back_bit_for_bit() -> None:
    ticks = 120
    scene, rope, cable, pearl = assembled()
    grip = rope.at(0.6)
    hand = ScriptedDevice(path, seconds=ticks / 1000)
    with HapticLoop(scene, hand, grip=grip, coupling=COUPLING) as loop:
        loop.wait()
        until(lambda: not loop.running)
    assert loop.statistics.ticks == ticks and not loop.statistics.lost

    other, other_rope, other_cable, other_pearl = assembled()
    subject = SceneSubject(other, other_rope.at(0.6), COUPLING, 1e-3)
    for k in range(ticks):
        subject.step(path(k / 1000))
    np.testing.assert_array_equal(hand.wrenches[-1], -subject.wrench)
    subject.let_go()
    other._compiled()

    assert scene.time == other.time and scene.integrator == "bdf2"
    for mine, theirs in zip(scene._numbered(), other._numbered(), strict=True):
        for key, array in mine._state_arrays().items():
            np.testing.assert_array_equal(array, theirs._state_arrays()[key], err_msg=f"{mine} {key}")
    # the same objects are in the scene as before, they work, and go on as if nothing had been
    assert rope in scene.bodies and cable in scene.constraints and len(scene.constraints) == 2
    np.testing.assert_array_equal(grip.position, other_rope.at(0.6).position)
    assert cable.tension == other_cable.tension and pearl.s == other_pearl.s
    scene.run(0.02, 1e-3)
    other.run(0.02, 1e-3)
    np.testing.assert_array_equal(rope.control_points, other_rope.control_points)
    # and reset goes back to the beginning, not to the end of the loop
    scene.reset()
    assert scene.time == 0.0 and pearl.s == pytest.approx(0.3)


def lying() -> tuple[sn.Scene, sn.Rod, sn.ContactPair]:
    """A rope on a table, which has slid a little."""
    scene = sn.Scene()
    table = scene.add(sn.Obstacle(sn.Box((2.0, 1.0, 0.1), sn.Pose((0.3, 0, -0.05))), name="table"))
    rope = scene.add(
        sn.Rod.straight(
            (0, 0, 5e-3), (0.3, 0, 5e-3), section=sn.Section.circle(5e-3), material=sn.Material(1e7, 0.4, 1000.0),
            control_points=6, name="rope",
        )
    )  # fmt: skip
    rope.control_velocities = np.tile((0.0, 0.1, 0.0), (6, 1))
    scene.contacts.restitution = 0.1
    pair = scene.collide(rope, table, friction=0.4)
    scene.run(0.01, 1e-3)
    return scene, rope, pair


def test_contact_goes_to_the_loop_and_comes_back() -> None:
    """A hand pulls the rope over the table: rules and the memory of friction travel with the scene."""
    ticks, coupling = 60, sn.VirtualCoupling(100.0, 0.5)

    def pull(t: float) -> tuple[float, float, float]:
        return (0.3 + 0.2 * t, 0.0, 5e-3)

    scene, rope, pair = lying()
    hand = ScriptedDevice(pull, seconds=ticks / 1000)
    with HapticLoop(scene, hand, grip=rope.at(0.3), coupling=coupling) as loop:
        loop.wait()
        until(lambda: not loop.running)
    assert loop.statistics.ticks == ticks and np.abs(hand.forces).max() > 0.01

    other, other_rope, other_pair = lying()
    subject = SceneSubject(other, other_rope.at(0.3), coupling, 1e-3)
    for k in range(ticks):
        subject.step(sn.Pose(pull(k / 1000)))
    subject.let_go()
    np.testing.assert_array_equal(rope.control_points, other_rope.control_points)
    assert pair.touching and pair.friction == 0.4 and scene.contacts.restitution == 0.1
    np.testing.assert_array_equal(pair.force, other_pair.force)
    assert [event.message for event in scene.events] == [event.message for event in other.events]
    for one in (scene, other):
        one.run(0.02, 1e-3)
    np.testing.assert_array_equal(rope.control_points, other_rope.control_points)
    np.testing.assert_array_equal(pair.force, other_pair.force)


def tapering() -> sn.Strand:
    """A thread of two pieces, the second of which a function of s tells: it does not travel, its numbers do."""
    nylon = sn.Material(2.7e9, 0.39, 1150)
    parts = [(0.1, sn.Section.circle(2e-4), nylon), (None, lambda s: sn.Section.circle(2.2e-4 - 4e-4 * s), nylon)]
    return sn.Strand(0.25, pieces=parts, nodes=101)


@pytest.mark.parametrize("make", [suture.thread, tapering])
def test_a_strand_comes_back_as_a_state(make: Callable[[], sn.Strand]) -> None:
    strand, coupling, base = make(), sn.VirtualCoupling(50.0, 0.1, 0.01, 1e-5), suture.base()
    hand = ScriptedDevice(lambda t: suture.grip(0.1 + 0.2 * t), seconds=0.1)
    with HapticLoop(strand, hand, base=base, coupling=coupling, gravity=suture.GRAVITY) as loop:
        loop.wait()
        until(lambda: not loop.running)
    subject = StrandSubject(make(), base, coupling, 1e-3, np.array(suture.GRAVITY))
    for k in range(100):
        subject.step(suture.grip(0.1 + 0.2 * (k / 1000)))
    assert loop.state is not None and subject.state is not None and loop.state.strand is strand
    np.testing.assert_array_equal(hand.wrenches[-1], -subject.wrench)
    np.testing.assert_array_equal(loop.state.quaternions, subject.state.quaternions)
    np.testing.assert_allclose(loop.state.positions, subject.state.positions, atol=1e-15)
    np.testing.assert_allclose(loop.state.hand_force, -subject.wrench[:3], rtol=1e-9, atol=1e-13)
    assert loop.state.report.converged and loop.state.energy.elastic == pytest.approx(subject.state.energy.elastic)
    assert loop.time == pytest.approx(0.1)
    # it is a guess like any other
    again = strand.solve(base=base, tip=loop.state.tip_pose, gravity=suture.GRAVITY, guess=loop.state)
    assert again.report.iterations <= 5


def test_a_device_that_is_lost_feels_nothing_and_the_simulation_goes_on() -> None:
    scene, rope, _, _ = assembled()
    hand = Fading(path(0.0).position + 0.1, reads=40)
    with HapticLoop(scene, hand, grip=rope.at(0.6), coupling=COUPLING, seconds=0.2) as loop:
        loop.wait()
        until(lambda: not loop.running)
        notes = loop.notes
    assert loop.statistics.lost and loop.statistics.ticks == 200
    assert not hand.wrench.any()  # what it was told last, not NaN, which it began with
    assert scene.time == pytest.approx(0.25)
    assert any(note.kind == "lost" and "out of reach" in note.text for note in (*notes, *loop.notes))


def test_a_device_that_is_too_slow_is_told_about() -> None:
    scene, rope, _, _ = assembled()
    with HapticLoop(scene, Slow((0.6, 0.0, 1.0)), grip=rope.at(0.6), coupling=COUPLING, seconds=0.02) as loop:
        loop.wait()
    stats = loop.statistics
    assert stats.ticks == 20 and stats.overruns == 20 and stats.skipped >= 76  # 5 periods for each, but the last
    assert loop.notes[0].kind == "overrun"
    with pytest.raises(InputError, match="started already"):
        loop.start()


def test_a_mouse_in_this_process_pulls_the_rope_in_the_other() -> None:
    scene, rope, _, _ = assembled()
    mouse = MouseDevice(smoothing=0.005)
    grip = rope.at(0.6)
    before = grip.position
    with HapticLoop(scene, mouse, grip=grip, coupling=sn.VirtualCoupling(2000.0, 5.0), realtime=False) as loop:
        until(lambda: loop.statistics.ticks > 20)
        assert loop.running and not loop.statistics.realtime and not loop.force.any()
        mouse.move(loop.grip.position)
        mouse.grab()
        goal = loop.grip.position + np.array((0.0, 0.05, 0.0))
        mouse.move(goal)
        until(lambda: bool(np.linalg.norm(loop.hand.position - goal) < 1e-3))
        until(lambda: bool(np.linalg.norm(loop.grip.position - goal) < 0.02) and bool(loop.force.any()))
        mouse.release()
        until(lambda: not loop.force.any())
        ticks = loop.statistics.ticks
        until(lambda: loop.statistics.ticks > ticks)
    assert not loop.running and grip.position[1] != before[1]


def test_an_exception_in_the_block_ends_the_loop_and_brings_the_scene_back() -> None:
    scene, rope, _, _ = assembled()
    hand = ScriptedDevice(np.tile(path(0.0).position, (10, 1)), repeat=True)
    with pytest.raises(KeyboardInterrupt), HapticLoop(scene, hand, grip=rope.at(0.6), coupling=COUPLING) as loop:
        until(lambda: loop.statistics.ticks > 5)
        raise KeyboardInterrupt
    assert scene.time == pytest.approx(0.05 + loop.statistics.ticks / 1000)
    assert not Path(loop._folder.name).exists()


@pytest.mark.parametrize("change", ["removed", "added"])
def test_a_scene_can_not_be_changed_meanwhile(change: str) -> None:
    """It is said at once, and the loop goes on; what it did comes back."""
    scene = sn.Scene(gravity=(0, 0, 0))
    boxes = [
        scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=0.3, position=(k, 0, 0), name=f"box {k}")) for k in range(3)
    ]
    hand = ScriptedDevice(np.tile((2.0, 0.1, 0.0), (20, 1)))
    with HapticLoop(scene, hand, grip=boxes[2].at(), coupling=sn.VirtualCoupling(50.0, 1.0)) as loop:
        with pytest.raises(InputError, match="held by a haptic loop"):
            if change == "removed":
                scene.remove(boxes[1])
            else:
                scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=0.3, position=(9, 0, 0), name="box 9"))
        until(lambda: not loop.running)
    assert len(hand.forces) == 20 and hand.forces.any()
    assert len(scene.bodies) == 3 and scene.time == pytest.approx(0.02)
    np.testing.assert_array_equal(boxes[0].position, (0.0, 0.0, 0.0))
    assert boxes[2].position[1] > 0.0


def test_limits_are_of_what_the_device_is_told() -> None:
    scene = sn.Scene(gravity=(0, 0, 0))
    box = scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=0.3))
    given = {"grip": box.at(), "coupling": COUPLING, "max_force": 3.0}
    plain, larger = (HapticLoop(scene, ScriptedDevice(np.zeros((3, 3))), force_scale=x, **given) for x in (1.0, 4.0))  # type: ignore[arg-type]
    limits = [{name: float(x) for name, x in loop._order["limits"].items()} for loop in (plain, larger)]
    # 300 N/m at 1 m/s and 2 N·s/m at 30 m/s²; 0.2 N·m/rad at 10 rad/s and 1e-3 N·m·s/rad at 300 rad/s²
    assert limits[0] == pytest.approx({"force": 3.0, "torque": math.inf, "force_rate": 360.0, "torque_rate": 2.3})
    assert limits[1] == pytest.approx({"force": 3.0, "torque": math.inf, "force_rate": 1440.0, "torque_rate": 9.2})


@pytest.mark.parametrize(
    ("device", "error", "message"),
    [
        (ForceDimensionDevice(), ImportError, "pip install forcedimension-core"),
        (Absent((0, 0, 0)), RuntimeError, "nothing is plugged in"),
    ],
)
def test_a_device_that_cannot_be_opened(device: object, error: type[Exception], message: str) -> None:
    scene, rope, _, _ = assembled()
    time_before = scene.time
    loop = HapticLoop(scene, device, grip=rope.at(0.6), coupling=COUPLING)
    with pytest.raises(error, match=message):
        loop.start()
    assert not loop.running and not Path(loop._folder.name).exists() and scene.time == time_before
    scene.step(1e-3)


ORPHAN = """
import sys, time
import numpy as np
import sennit as sn
from sennit.haptics import HapticLoop, ScriptedDevice

scene = sn.Scene()
box = scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=0.3))
hand = ScriptedDevice(np.zeros((10, 3)), repeat=True)
loop = HapticLoop(scene, hand, grip=box.at(), coupling=sn.VirtualCoupling(100.0))
loop.start()
print(loop._process.pid, loop._folder.name, flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")
def test_a_loop_ends_with_the_process_that_started_it() -> None:
    source = str(Path(sn.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": source}
    with subprocess.Popen([sys.executable, "-c", ORPHAN], stdout=subprocess.PIPE, env=environment, text=True) as parent:
        assert parent.stdout is not None
        worker, folder = parent.stdout.readline().split()
        os.kill(int(worker), 0)  # it is there
        parent.send_signal(signal.SIGKILL)
    until(lambda: not _runs(int(worker)))
    until(lambda: not Path(folder).exists())


def _runs(pid: int) -> bool:
    """Whether a process runs; one that has ended but that nobody has asked for its status does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return not Path("/proc/self").exists()
    return status.rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"subject": 3}, "subject must be"),
        ({"device": 3}, "device must have state"),
        ({"grip": None}, "needs grip="),
        ({"grip": (0, 0, 1)}, "grip must be a point"),
        ({"grip": sn.World.at((0, 0, 0))}, "grip must be a point of a body"),
        ({"coupling": 500.0}, "coupling must be"),
        ({"rate": 0.0}, "rate must be"),
        ({"rate": 500.0}, "made for rate=1000"),
        ({"seconds": -1.0}, "seconds must be"),
        ({"realtime": "yes"}, "realtime must be"),
        ({"frame": (0, 0, 0)}, "frame must be"),
        ({"scale": 0.0}, "scale must be"),
        ({"max_force": 0.0}, "max_force must be"),
        ({"base": sn.Pose()}, "are for strands"),
        ({"subject": suture.thread()}, "grip= is for scenes"),
        ({"subject": suture.thread(), "grip": None}, "needs base="),
        ({"subject": sn.Strand(1.0, stiffness=np.eye(6), nodes="auto"), "grip": None, "base": sn.Pose()}, "fixed mesh"),
    ],
)
def test_loops_that_make_no_sense(change: dict[str, object], message: str) -> None:
    scene, rope, _, _ = assembled()
    given: dict[str, object] = {
        "subject": scene,
        "device": ScriptedDevice(np.zeros((3, 3))),
        "grip": rope.at(0.6),
        "coupling": COUPLING,
    }
    with pytest.raises(InputError, match=message):
        HapticLoop(**{**given, **change})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="has not begun"):
        _ = HapticLoop(**given).time  # type: ignore[arg-type]
