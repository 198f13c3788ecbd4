"""A needle's stitch: through tissue and out again with its thread, kept by snapshots and files, and what it refuses."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest
import trimesh

import sennit as sn
from sennit.errors import InputError

GEL = sn.Material(youngs_modulus=2e5, poisson_ratio=0.45, density=1000, relaxation_time=5e-3)
NYLON = sn.Material(youngs_modulus=2.7e9, poisson_ratio=0.39, density=1150, relaxation_time=1e-3)
R, LENGTH, TOP = 6e-3, 0.017, 7.5e-3
CENTRE = np.array((0.0, 0.0, TOP + 3e-3))
FIRST = np.pi + np.arcsin(0.5) - 0.1
"""Angle about -y at which the tip begins, just above the skin."""
DT = 4e-3
USUAL = {
    "length": LENGTH, "radius": R, "thickness": 5e-4, "piercing": 0.6, "cutting": 0.2, "friction": 20.0,
    "thread_friction": 0.1, "patch": 6e-3, "holes": 4, "normal": (0, -1, 0), "name": "needle",
}  # fmt: skip


@cache
def slab():
    box = trimesh.creation.box((0.04, 0.03, 2 * TOP)).subdivide_to_size(6e-3)
    return np.array(box.vertices), np.array(box.faces)


def out(angle):
    return np.array((np.cos(angle), 0.0, np.sin(angle)))


def turned(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array(((c, 0, -s), (0, 1, 0), (s, 0, c)))


class Stitch:
    """A hand that leads a curved needle round through a slab, and then draws it up."""

    def __init__(self, **options):
        self.scene = sn.Scene(gravity=(0, 0, 0), drag=20.0)
        vertices, faces = slab()
        self.pad = self.scene.add(
            sn.Zone.from_mesh(vertices, faces, material=GEL, fixed=vertices[:, 2] < -TOP + 1e-6, name="pad")
        )
        swage = FIRST - LENGTH / R
        way = np.array((-np.sin(swage), 0.0, np.cos(swage)))
        line = CENTRE + R * out(swage) - np.linspace(0.0, 0.06, 40)[:, None] * way
        self.thread = self.scene.add(
            sn.Rod.through(
                line, section=sn.Section.circle(1e-4), material=NYLON, control_points=40, straight=True, name="thread"
            )
        )
        self.needle = self.scene.add(sn.Needle(self.thread.at(0), self.pad, **(USUAL | options)))
        self.hand = self.scene.add(sn.Clamp(self.needle.at(0.8 * LENGTH), name="hand"))
        self.begin = self.hand.target

    def lead(self, angle, rise=0.0):
        turn = turned(angle)
        place = CENTRE + turn @ (self.begin.position - CENTRE) + (0.0, 0.0, rise)
        self.hand.target = sn.Pose.from_rotation(place, turn @ self.begin.rotation)
        self.scene.step(DT)

    def round(self, start, end, speed=2.0):
        for angle in np.linspace(start, end, max(int(abs(end - start) / (speed * DT)), 1) + 1)[1:]:
            self.lead(angle)

    def rise(self, angle, height, speed=0.03):
        for rise in np.linspace(0.0, height, int(height / (speed * DT)) + 1)[1:]:
            self.lead(angle, rise)

    def events(self):
        return [event.kind for event in self.scene.events if self.needle in event.subjects]


def test_a_curved_needle_takes_a_bite_and_its_thread_follows() -> None:
    stitch = Stitch()
    needle = stitch.needle
    assert needle.tip == pytest.approx(CENTRE + R * out(FIRST), abs=1e-12)
    stitch.round(0.0, 2.6)
    assert stitch.events() == ["pierced", "through"]
    one, other = needle.holes
    # chord of the circle at the depth of the skin, 2 R cos 30°
    assert np.linalg.norm(one.points[0].position - other.points[0].position) == pytest.approx(np.sqrt(3) * R, rel=0.1)
    # both holes are on the needle's circle
    for hole in needle.holes:
        assert np.abs(hole.violation[:2]).max() < 1e-6
    stitch.round(2.6, 5.4)
    assert [type(hole) for hole in needle.holes] == [sn.Keyhole, sn.Keyhole]
    stitch.rise(5.4, 0.02)
    drawn = [hole.s for hole in needle.holes]
    assert 0.012 < drawn[0] < drawn[1] < 0.06
    for hole in needle.holes:
        gap = hole.slider.position - hole.hole.position
        assert np.linalg.norm(gap) < 1e-6
        # what the thread is rubbed with is no more than Coulomb's law allows
        way = hole.slider.at().frame[:, 2]
        along = abs(hole.force @ way)
        assert along <= 0.1 * np.linalg.norm(hole.force - (hole.force @ way) * way) * 1.01 + 1e-9
    # and all of it through: the holes are free again
    stitch.rise(5.4, 0.09)
    assert needle.holes == ()
    assert [event.kind for event in stitch.scene.events].count("released") == 2
    assert stitch.pad.strain_energy < 1e-9


def test_a_snapshot_a_file_and_the_beginning_go_on_bitwise(tmp_path) -> None:
    stitch = Stitch()
    scene, needle = stitch.scene, stitch.needle
    steps = [0.1, 0.2, 0.4, 1.0, 2.0, 2.4, 3.2, 3.6]
    told = []
    for start, end in itertools.pairwise([0.0, *steps]):
        stitch.round(start, end)
        told.append((scene.snapshot(), needle.tip, stitch.hand.force, stitch.pad.positions, stitch.hand.target))
    for k in (4, 1, 6, 0):
        scene.restore(told[k][0])
        stitch.round(steps[k], steps[k + 1])
        assert stitch.hand.force.tobytes() == told[k + 1][2].tobytes()
        assert stitch.pad.positions.tobytes() == told[k + 1][3].tobytes()
    for k in (0, 3, 5):
        scene.restore(told[k][0])
        scene.save(tmp_path / "stitch.npz")
        again = sn.Scene.load(tmp_path / "stitch.npz")
        twin = Stitch.__new__(Stitch)
        twin.scene, twin.begin = again, stitch.begin
        twin.needle, twin.hand = again.constraints
        twin.pad = again.bodies[0]
        assert isinstance(twin.needle, sn.Needle) and twin.needle.body.name == needle.body.name
        twin.round(steps[k], steps[k + 1])
        assert twin.hand.force.tobytes() == told[k + 1][2].tobytes()
        names = [hole.name for hole in twin.needle.holes]
        scene.restore(told[k + 1][0])
        assert names == [hole.name for hole in needle.holes]
    scene.reset()
    assert needle.holes == () and needle.cutting_work == 0.0
    stitch.round(0.0, steps[0])
    assert stitch.hand.force == pytest.approx(told[0][2], abs=1e-9)


def test_no_hole_left_is_told_and_the_tip_goes_on_unfelt() -> None:
    stitch = Stitch(holes=1)
    stitch.round(0.0, 2.6)
    assert stitch.events() == ["pierced", "no_hole"]
    assert len(stitch.needle.holes) == 1


def test_a_tip_that_is_drawn_aside_slips_off() -> None:
    stitch = Stitch(piercing=5.0)
    stitch.round(0.0, 0.13)
    assert stitch.needle.pressed is not None
    for aside in np.linspace(0.0, 4e-3, 100):
        turn = turned(0.13)
        place = CENTRE + turn @ (stitch.begin.position - CENTRE) + (0.0, aside, 0.0)
        stitch.hand.target = sn.Pose.from_rotation(place, turn @ stitch.begin.rotation)
        stitch.scene.step(DT)
    assert stitch.events() == ["slipped"]
    assert stitch.needle.pressed is None and np.abs(stitch.needle.force).max() == 0.0


def test_a_run_is_the_same_as_its_steps() -> None:
    one, other = Stitch(), Stitch()
    for stitch in (one, other):
        stitch.round(0.0, 0.5)
    one.scene.run(0.04, dt=DT)
    for _ in range(10):
        other.scene.step(DT)
    assert one.hand.force.tobytes() == other.hand.force.tobytes()


def test_it_leaves_the_scene_with_all_that_came_with_it() -> None:
    stitch = Stitch()
    scene, needle = stitch.scene, stitch.needle
    stitch.round(0.0, 1.0)
    with pytest.raises(InputError, match="still used by needle"):
        scene.remove(stitch.pad)
    with pytest.raises(InputError, match="still used by needle"):
        scene.remove(needle.body)
    scene.remove(stitch.hand)
    scene.remove(needle)
    assert scene.bodies == (stitch.pad, stitch.thread) and scene.constraints == ()
    scene.step(DT)
    assert stitch.pad.strain_energy == 0.0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"piercing": -1.0}, "piercing"),
        ({"cutting": -0.1}, "cutting"),
        ({"friction": float("nan")}, "friction"),
        ({"cutting": 0.7}, "must not be above piercing"),
        ({"emerging": 0.1}, "must not be above piercing and emerging"),
        ({"length": 0.04}, "must leave the circle"),
        ({"length": 0.0}, "length"),
        ({"radius": -1e-3}, "radius"),
        ({"thickness": 0.02}, "thickness must be below"),
        ({"patch": 1e-4}, "radius must reach"),
        ({"holes": 0}, "holes"),
        ({"normal": (0.0, 0.0, 0.0)}, "normal"),
    ],
)
def test_what_no_needle_can_be_is_refused(options, words) -> None:
    with pytest.raises(InputError, match=words):
        Stitch(**options)


def test_a_tip_inside_the_tissue_and_a_thread_without_an_end_there_are_refused() -> None:
    stitch = Stitch()
    scene = stitch.scene
    count = len(scene.bodies)
    deep = sn.Rod.straight((0, 0, 0.02), (0, 0, 0.06), section=sn.Section.circle(1e-4), material=NYLON)
    scene.add(deep)
    straight = {key: value for key, value in USUAL.items() if key not in ("radius", "normal")} | {"name": "other"}
    with pytest.raises(InputError, match="inside pad"):
        scene.add(sn.Needle(deep.at(0), stitch.pad, **straight))
    assert len(scene.bodies) == count + 1
    with pytest.raises(InputError, match="end of a rod"):
        sn.Needle(deep.at(0.01), stitch.pad, **straight)
    with pytest.raises(InputError, match=r"a sennit\.Zone"):
        sn.Needle(deep.at(0), "skin", **straight)
    with pytest.raises(InputError, match="twice"):
        sn.Needle(deep.at(0), [stitch.pad, stitch.pad], **straight)


def test_a_haptic_loop_sews_and_hands_the_stitch_back() -> None:
    stitch = Stitch()
    scene, needle = stitch.scene, stitch.needle
    stitch.round(0.0, 0.12)  # the tip presses
    scene.remove(stitch.hand)
    grip = needle.at(0.5 * LENGTH)
    start, way = grip.position, needle.direction
    device = sn.ScriptedDevice(lambda t: start + 0.02 * t * way, seconds=0.25)
    coupling = sn.VirtualCoupling(stiffness=1500.0, damping=1.0)
    with sn.HapticLoop(scene, device, grip=grip, coupling=coupling, realtime=False) as loop:
        loop.wait()
    assert stitch.events() == ["pierced"]
    (hole,) = needle.holes
    assert needle.way_in(hole) > 1e-3
    assert np.abs(hole.violation[:2]).max() < 1e-6
    assert np.linalg.norm(device.forces, axis=1).max() > 0.4
    scene.step(1e-3)  # and it goes on here


def test_a_tip_that_leaps_through_the_skin_in_one_step_is_told_of() -> None:
    stitch = Stitch()
    stitch.hand.closing_speed = np.inf
    stitch.lead(0.0)
    stitch.hand.target = stitch.begin.position - np.array((0.0, 0.0, 9e-3))
    stitch.scene.step(DT)
    (text,) = [event.message for event in stitch.scene.events if event.kind == "no_hole"]
    assert "goes on unfelt: it went 6.5 mm beyond the skin in one step" in text
    assert stitch.needle.pressed is None and stitch.pad.strain_energy < 1e-12


@pytest.mark.parametrize("seed", [0, 5])
def test_a_hand_that_jerks_lets_go_and_goes_back_in_time_breaks_nothing(seed) -> None:
    """Whatever it does: forces stay within their bounds, all is finite, and no energy comes from nowhere."""
    rng = np.random.default_rng(seed)
    piercing = rng.uniform(0.1, 1.0)
    stitch = Stitch(
        holes=int(rng.integers(2, 5)), piercing=piercing, cutting=piercing * rng.uniform(), grip=rng.uniform(0.5, 4.0)
    )
    scene, needle = stitch.scene, stitch.needle
    scene.integrator = ("euler", "bdf2")[seed % 2]
    angle, kept = 0.0, scene.snapshot()
    for _ in range(80):
        what = rng.random()
        if what < 0.75:
            angle += rng.uniform(-0.05, 0.15)
            turn = turned(angle)
            place = CENTRE + turn @ (stitch.begin.position - CENTRE)
            stitch.hand.target = sn.Pose.from_rotation(place, turn @ stitch.begin.rotation)
        elif what < 0.85:
            stitch.hand.target = stitch.hand.target.position + rng.normal(0.0, 3e-3, 3)
        elif what < 0.9:
            stitch.hand.enabled = not stitch.hand.enabled
        elif what < 0.95:
            kept = scene.snapshot()
        else:
            scene.restore(kept)
        scene.step(DT)
        assert np.isfinite(stitch.thread.centerline(20)).all() and np.isfinite(stitch.pad.positions).all()
        assert stitch.pad.strain_energy < 0.5
        for hole in needle.holes:
            if not isinstance(hole, sn.Keyhole):
                most = needle.friction * LENGTH
                assert -most - 1e-9 <= hole.multipliers[2] <= piercing + most + 1e-9
    assert min(needle.cutting_work, needle.friction_work) >= -1e-12
