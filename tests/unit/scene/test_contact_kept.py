"""What a scene with contact keeps: in snapshots, in files, and when something is added to it.

Scenes are tiny: the same with kernels as plain Python.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sennit as sn
from sennit.touching.kept import Kept

HEMP = sn.Material(youngs_modulus=1e7, poisson_ratio=0.4, density=1000)
RADIUS = 5e-3
H = 1 / 240


def sliding() -> sn.Scene:
    """A rope that slides over a floor, and a stack of two boxes, of two shapes each, that does."""
    scene = sn.Scene()
    scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1)), name="floor"))
    rope = scene.add(sn.Rod.straight(
        (0, 0, RADIUS), (0.2, 0.01, RADIUS), section=sn.Section.circle(RADIUS), material=HEMP, control_points=6,
        name="rope",
    ))  # fmt: skip
    rope.control_velocities = np.tile((0.1, 0.5, 0.0), (6, 1))
    for k in range(2):
        halves = [sn.Box((0.05, 0.1, 0.1), sn.Pose((x, 0, 0))) for x in (-0.025, 0.025)]
        box = scene.add(sn.RigidBody.box(
            (0.1, 0.1, 0.1), mass=1.0, position=(1 + 0.01 * k, 0, 0.05 + 0.1 * k), shape=halves, name=f"box {k}"
        ))  # fmt: skip
        box.velocity = (0.3, 0.1, 0.0)
    scene.collide(friction=0.3)
    for _ in range(3):
        scene.step(H)
    return scene


def beads() -> sn.Scene:
    """Pearls on two ropes that slide over a floor, a box, a rope and each other."""
    scene = sn.Scene()
    scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1)), name="floor"))
    for k, (y, z) in enumerate(((0.0, 0.02), (0.03, 0.022))):
        rope = scene.add(sn.Rod.straight(
            (0, y, z), (0.3, y + 0.02 * k, z), section=sn.Section.circle(RADIUS), material=HEMP, control_points=7,
            name=f"rope {k}",
        ))  # fmt: skip
        for at in (0.1, 0.2):
            pearl = scene.add(sn.Pearl(rope, at=at, mass=0.05, radius=0.02, friction=0.1, name=f"pearl {k} {at}"))
            pearl.sliding_velocity = 0.8 - 1.2 * k
    scene.add(sn.RigidBody.box((0.02, 0.01, 0.04), mass=0.2, position=(0.14, -0.02, 0.0201), name="box"))
    scene.collide(friction=0.3)
    for _ in range(4):
        scene.step(H)
    return scene


def bits(scene: sn.Scene) -> list[bytes]:
    return [array.tobytes() for thing in scene._numbered() for array in thing._state_arrays().values()]


def shown(scene: sn.Scene) -> list[Any]:
    return [(c.first.name, c.second.name, c.state, c.gap, c.force.tolist(), c.slip.tolist()) for c in scene.contacts]


def future(scene: sn.Scene, steps: int = 4) -> list[Any]:
    """Everything that comes: states, contacts and events."""
    found = []
    for _ in range(steps):
        scene.step(H)
        found.append((bits(scene), shown(scene)))
    return [*found, [(event.time, event.kind, event.message) for event in scene.events], scene.contacts.deepest]


def remembered(scene: sn.Scene) -> Any:
    """Tangential forces that the next step goes on from, with the names of the two."""
    touching = scene._compiled().system.touching
    kept = touching.kept()
    pairs = zip(kept.forces.first.tolist(), kept.forces.second.tolist(), strict=True)
    names = [(kept.things[a].name, kept.things[b].name) for a, b in pairs]
    return [(*pair, *force) for pair, force in zip(names, kept.forces.force.tolist(), strict=True)]


def far_ball() -> sn.RigidBody:
    return sn.RigidBody.sphere(0.1, mass=1.0, position=(5, 5, 5), name="ball")


def test_goes_on_bit_for_bit_from_a_snapshot() -> None:
    scene = sliding()
    snapshot, now = scene.snapshot(), (bits(scene), shown(scene))
    assert len(now[1]) > 8 and {names[:2] for names in now[1]} >= {("rope", "floor"), ("box 0", "floor")}
    first = future(scene)
    scene.restore(snapshot)
    assert (bits(scene), shown(scene)) == now
    assert future(scene) == first
    # the same after its tables were made anew
    scene.add(far_ball())
    scene.step(H)
    scene.restore(snapshot)
    assert future(scene) == first
    # and with less room than there was
    touching = scene._compiled().system.touching
    touching._tables = touching._with_room(2)
    scene.restore(snapshot)
    assert future(scene) == first


def test_the_memory_is_needed() -> None:
    """Without it friction begins anew, and the future is another one: the test above can fail."""
    scene = sliding()
    snapshot = scene.snapshot()
    first = future(scene)
    scene.restore(snapshot)
    system = scene._compiled().system
    system.touching.go_on(Kept.nothing())
    system.find_spans()
    assert future(scene) != first


def test_what_is_added_makes_nothing_forget() -> None:
    """Nor does what is taken out, but for its own."""
    scene = sliding()
    before, contacts = remembered(scene), shown(scene)
    other = sn.RigidBody.sphere(0.1, mass=1.0, position=(5, 5, 5), name="other")
    scene.add(other)
    assert shown(scene) == contacts
    assert remembered(scene) == before and shown(scene) == contacts
    scene.add(sn.Rod.straight((0, 9, 9), (1, 9, 9), section=sn.Section.circle(RADIUS), material=HEMP, control_points=5))
    scene.remove(other)
    assert remembered(scene) == before
    scene.remove(scene.bodies[0])  # the rope
    assert remembered(scene) == [row for row in before if "rope" not in row[:2]]
    assert shown(scene) == [row for row in contacts if "rope" not in row[:2]]


def test_forces_are_found_again_under_new_numbers() -> None:
    """The floor's shape has another number after a ball was added, and a box another collider's after a rod was."""
    scene, plain = sliding(), sliding()
    scene.add(far_ball())
    scene.add(sn.Rod.straight((0, 9, 9), (1, 9, 9), section=sn.Section.circle(RADIUS), material=HEMP, control_points=5))
    found = []
    for one in (scene, plain):
        one.step(H)
        touch = one._compiled().system.touching.touch
        found.append(touch.rows.pressed[: touch.state.found[0]].tolist())
    assert found[0] == found[1] and sum(found[0]) > 8
    for box, same in zip(scene.bodies[1:3], plain.bodies[1:3], strict=True):
        assert same.position == pytest.approx(box.position, abs=1e-12)


def test_reset_begins_without_memory() -> None:
    scene = sliding()
    scene.reset()
    assert not remembered(scene) and not shown(scene) and not scene.events
    for _ in range(3):
        scene.step(H)
    fresh = sliding()
    assert future(scene, 2) == future(fresh, 2)


def test_snapshots_keep_rules() -> None:
    scene = sliding()
    rope, floor = scene.bodies[0], scene.obstacles[0]
    pair = scene.collide(rope, floor, friction=0.1)
    snapshot = scene.snapshot()
    pair.friction = scene.contacts.friction = 0.7
    scene.ignore(scene.bodies[1])
    scene.restore(snapshot)
    assert (pair.friction, scene.contacts.friction, len(scene._rules.rules)) == (0.1, 0.3, 2)
    laws = scene._compiled().system.touching._given["laws"].friction
    assert sorted(laws.tolist()) == [0.0, 0.1, 0.3]
    pair.friction = 0.2
    assert sorted(laws.tolist()) == [0.0, 0.2, 0.3]


def test_a_snapshot_from_before_anything_could_touch() -> None:
    scene = sn.Scene()
    scene.add(far_ball())
    snapshot = scene.snapshot()
    scene.collide()
    scene.step(H)
    scene.restore(snapshot)
    assert not scene._rules.rules and scene._compiled().system.touching is None and not len(scene.contacts)


# -------------------------------------------------------------------------------------------------------------- files


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> tuple[dict, dict[str, np.ndarray]]:
    scene = sliding()
    rope, floor, box = scene.bodies[0], scene.obstacles[0], scene.bodies[1]
    scene.collide(rope, floor, static_friction=0.4, restitution=0.1)
    scene.ignore(rope, box)
    scene.step(H)
    path = tmp_path_factory.mktemp("saved") / "scene.npz"
    scene.save(path)
    with np.load(path, allow_pickle=False) as data:
        arrays = dict(data)
    return json.loads(bytes(arrays.pop("description")).decode()), arrays


def write(path: Path, description: dict, arrays: dict[str, np.ndarray]) -> Path:
    np.savez(path, description=np.frombuffer(json.dumps(description).encode(), np.uint8), **arrays)
    return path


def test_goes_on_bit_for_bit_from_a_file(tmp_path: Path) -> None:
    scene = sliding()
    scene.save(tmp_path / "scene.npz")
    again = sn.Scene.load(tmp_path / "scene.npz")
    assert shown(again) == shown(scene) and again.contacts.deepest == scene.contacts.deepest
    assert future(again) == future(scene)


def test_files_keep_rules(saved, tmp_path: Path) -> None:
    description, arrays = saved
    assert description["format"] == 5
    scene = sn.Scene.load(write(tmp_path / "scene.npz", description, arrays))
    rope, floor, box = scene.bodies[0], scene.obstacles[0], scene.bodies[1]
    everything, pair, gone = scene._rules.rules
    assert (everything.first, everything.second, everything.itself, everything.law.friction) == (None, None, True, 0.3)
    assert (pair.first, pair.second, pair.itself) == ((rope,), (floor,), False)
    assert (pair.law.friction, pair.law.static_friction, pair.law.restitution) == (None, 0.4, 0.1)
    assert (gone.first, gone.second, gone.law) == ((rope,), (box,), None)
    assert {frozenset((a.name, b.name)) for a, b in scene._met.values()} == {
        frozenset(pair) for pair in (("rope", "floor"), ("box 0", "floor"), ("box 0", "box 1"))
    }


def entry(*way: Any) -> Callable[[dict, dict, Any], None]:
    def put(description: dict, arrays: dict, value: Any) -> None:
        node = description
        for key in way[:-1]:
            node = node[key]
        node[way[-1]] = value

    return put


def number(name: str, at: int = 0) -> Callable[[dict, dict, Any], None]:
    def put(description: dict, arrays: dict, value: Any) -> None:
        array = arrays[f"contact/{name}"] = arrays[f"contact/{name}"].copy()
        array.flat[at] = value

    return put


DAMAGES = [
    (entry("default_law", 0), -0.1), (entry("default_law", 0), None), (entry("default_law", 0), float("nan")),
    (entry("default_law"), [0.3]), (entry("default_law", 2), 1.5),
    (entry("rules", 1, "first"), 9), (entry("rules", 1, "first"), -1), (entry("rules", 1, "first"), "0"),
    (entry("rules", 1, "first"), None), (entry("rules", 1, "second"), True), (entry("rules", 1, "itself"), 2),
    (entry("rules", 1, "law"), [-1.0] * 6), (entry("rules", 1, "law"), {}), (entry("rules", 1, "law", 1), 1e400),
    (entry("rules"), None), (entry("met", 0, 0), 17), (entry("met", 0), [0]), (entry("met", 0), 3),
    (number("forces.first"), 9), (number("forces.first"), -1), (number("forces.second"), -1),
    (number("forces.first"), 3), (number("forces.feature"), -1), (number("forces.second_part"), 5),
    (number("forces.second_part"), -1), (number("forces.first_part", -1), 2), (number("forces.stuck"), 2),
    (number("forces.normal"), -1.0), (number("forces.normal"), np.nan), (number("forces.force"), np.inf),
    (number("slots.first"), 9), (number("slots.first"), -1), (number("slots.first_at"), 3),
    (number("slots.first_at"), -1), (number("slots.second_at"), 1), (number("slots.idle"), -1),
    (number("contacts.first"), 4), (number("contacts.second"), -1), (number("contacts.stuck"), 7),
    (number("contacts.position"), np.nan), (number("last"), -1.0),
]  # fmt: skip


@pytest.mark.parametrize("number_of", range(len(DAMAGES)))
def test_damaged_files_are_refused(number_of: int, saved, tmp_path: Path) -> None:
    change, value = DAMAGES[number_of]
    description, arrays = json.loads(json.dumps(saved[0])), dict(saved[1])
    change(description, arrays, value)
    with pytest.raises(sn.InputError):
        sn.Scene.load(write(tmp_path / "scene.npz", description, arrays))


def test_missing_parts_are_refused(saved, tmp_path: Path) -> None:
    description, arrays = saved
    for name in [name for name in arrays if name.startswith("contact/")]:
        others = {key: array for key, array in arrays.items() if key != name}
        with pytest.raises(sn.InputError):
            sn.Scene.load(write(tmp_path / "scene.npz", description, others))
    for name in ("rules", "default_law", "met", "obstacles"):
        others = {key: value for key, value in description.items() if key != name}
        with pytest.raises(sn.InputError):
            sn.Scene.load(write(tmp_path / "scene.npz", others, arrays))


# -------------------------------------------------------------------------------------------------------------- rules


def test_pairs_without_a_rule_cannot_be_set() -> None:
    scene = sliding()
    rope, floor = scene.bodies[0], scene.obstacles[0]
    pair = scene.contacts.between(rope, floor)
    assert pair.touching
    with pytest.raises(sn.InputError, match=r"Scene\.collide"):
        pair.friction = 0.5
    own = scene.collide(rope, floor, friction=0.2)
    scene.contacts.between(floor, rope).friction = 0.5
    assert own.friction == 0.5
    with pytest.raises(sn.InputError, match="at least friction"):
        own.static_friction = 0.4
    assert own.static_friction is None


def test_of_a_rod_with_itself_and_with_everything() -> None:
    scene = sn.Scene()
    rope = scene.add(sn.Rod.straight(
        (0, 0, 0), (1, 0, 0), section=sn.Section.circle(RADIUS), material=HEMP, control_points=6
    ))  # fmt: skip
    itself, all_else = scene.collide(rope, itself=True, friction=0.1), scene.collide(rope, friction=0.2)
    assert scene.contacts.between(rope, rope)._rule is itself._rule
    assert scene.contacts.between(rope)._rule is all_else._rule
    for wrong in (None, "rope", scene, far_ball()):
        with pytest.raises(sn.InputError):
            scene.contacts.between(wrong)


# ------------------------------------------------------------------------------------------------------------- pearls


def test_pearls_go_on_from_snapshots_and_files(tmp_path: Path) -> None:
    """Bit for bit from a snapshot, with contacts, forces and events. From a file nearly so: files do not keep every bit
    of what slides on rods, with or without contact.
    """
    scene = beads()
    assert {a for a, *_ in shown(scene)} >= {"pearl 0 0.1"}
    snapshot = scene.snapshot()
    scene.save(tmp_path / "scene.npz")
    first = future(scene, 12)
    scene.restore(snapshot)
    assert future(scene, 12) == first
    again = sn.Scene.load(tmp_path / "scene.npz")
    scene.restore(snapshot)
    assert shown(again) == shown(scene) and again.contacts.deepest == scene.contacts.deepest
    for _ in range(6):
        scene.step(H)
        again.step(H)
        assert [entry[:3] for entry in shown(again)] == [entry[:3] for entry in shown(scene)]
    for a, b in zip(scene.bodies, again.bodies, strict=True):
        if isinstance(a, sn.Pearl):
            assert isinstance(b, sn.Pearl) and np.abs(a.position - b.position).max() < 1e-5


def test_pearls_that_do_not_stick_out_touch_nothing() -> None:
    scene = sn.Scene()
    rope = scene.add(sn.Rod.straight((0, 0, 1), (1, 0, 1), section=sn.Section.circle(RADIUS), material=HEMP))
    pearl = scene.add(sn.Pearl(rope, at=0.5, mass=0.1, radius=RADIUS, name="thin"))
    assert pearl.shapes == ()
    with pytest.raises(sn.InputError, match=r"thin has no surface.*wider than their rods"):
        scene.collide(pearl)
    with pytest.raises(sn.InputError, match="thin"):
        scene.ignore(pearl)
    assert len(sn.Pearl(rope, at=0.5, mass=0.1, radius=2 * RADIUS).shapes) == 1
