"""Cables that rub on bodies in their way, against Euler and Eytelwein, Newton, and conservation laws."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from verification.cables.rig import ball, rope

import sennit as sn

H = 1 / 120
ALONG_Y = (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)
SHAPES = ("cylinder", "sphere", "box")
PULL = 100.0


def lying(kind: str) -> sn.RigidBody:
    """A body of 50 kg about the origin: a cylinder along y or a sphere, of radius 1 m, or a box twice as high."""
    if kind == "cylinder":
        return sn.RigidBody.cylinder(1.0, 8.0, mass=50.0, pose=sn.Pose((0, 0, 0), ALONG_Y))
    return sn.RigidBody.sphere(1.0, mass=50.0) if kind == "sphere" else sn.RigidBody.box((2, 9, 4), mass=50.0)


def pulled(kind: str, mu: float, share: float, *, aside: float = 0.0, masses: Any = (1.0, 1.0), tie: str = "fixed",
           pull: float = PULL, integrator: Any = "euler") -> tuple[Any, ...]:  # fmt: skip
    """Two balls on a cable over a body, drawn along it: one by `pull` (N), one by `share` of e^{μθ} times that.

    Returns scene, balls, body, cable, ratio e^{μθ}, and the directions of pull.
    """
    scene = sn.Scene(gravity=(0, 0, 0), integrator=integrator)
    body = scene.add(lying(kind))
    if tie == "fixed":
        scene.add(sn.Lock(body.at(), sn.World.at((0, 0, 0))))
    elif tie == "hinge":
        scene.add(sn.Hinge(body.at(), sn.World.at((0, 0, 0)), axis=(0, 1, 0)))
    one, two = ball(scene, masses[0], (-1.2, -aside, 0.02)), ball(scene, masses[1], (1.2, aside, 0.02))
    cable = scene.add(rope([one.at(), two.at()], 1e6, around=[body], friction=mu, damping=2e4))
    line = np.array(cable.path())
    ways = [(line[0] - line[1]) / np.linalg.norm(line[0] - line[1]),
            (line[-1] - line[-2]) / np.linalg.norm(line[-1] - line[-2])]  # fmt: skip
    ratio = math.exp(mu * cable.wraps[0].angle)
    scene.add(sn.Load(one.at(), force=pull * ways[0]))
    scene.add(sn.Load(two.at(), force=pull * ratio * share * ways[1]))
    return scene, one, two, body, cable, ratio, ways


@pytest.mark.parametrize("kind", SHAPES)
def test_angle_by_which_it_turns(kind: str, validated: Any) -> None:
    """In the plane: π less what is left of both spans; that of a great circle; of a box, at its two upper edges."""
    cable = pulled(kind, 0.3, 1.0)[4]
    # distance and height of the ends, with the tangents from there
    if kind == "box":
        expected = math.pi - 2 * math.atan2(0.2, 2.0 - 0.02)
    else:
        reach = math.hypot(1.2, 0.02)
        expected = math.pi - 2 * math.atan2(0.02, 1.2) - 2 * math.acos(1.0 / reach)
    validated(
        "Cable that rubs on a body in its way", area="cables", quantity="angle of wrap",
        reference="tangents in the plane", error=abs(cable.wraps[0].angle / expected - 1), bound=1e-12,
    )  # fmt: skip


def test_angle_on_a_helix() -> None:
    """∫ κ ds = θ cos β where the cable climbs a cylinder by the angle β."""
    cable = pulled("cylinder", 0.3, 1.0, aside=0.5)[4]
    flat = math.pi - 2 * math.atan2(0.02, 1.2) - 2 * math.acos(1.0 / math.hypot(1.2, 0.02))
    run = flat + 2 * math.sqrt(1.2**2 + 0.02**2 - 1.0)  # unrolled
    assert cable.wraps[0].angle == pytest.approx(flat * run / math.hypot(run, 1.0), rel=1e-9)


@pytest.mark.parametrize("integrator", ["euler", "bdf2", "midpoint", "fourth"])
@pytest.mark.parametrize(("kind", "aside"), [("cylinder", 0.0), ("cylinder", 0.5), ("sphere", 0.0), ("box", 0.3)])
def test_slides_at_the_ratio(kind: str, aside: float, integrator: str, validated: Any) -> None:
    scene, _, two, _, cable, ratio, ways = pulled(kind, 0.3, 1.2, aside=aside, masses=(20, 20), integrator=integrator)
    scene.run(0.25, dt=H)
    t, v = scene.time, two.velocity @ ways[1]
    scene.run(0.1, dt=H)
    (wrap,) = cable.wraps
    assert wrap.slides
    validated(
        "Cable that rubs on a body in its way", area="cables", quantity="ratio of tensions",
        reference="Euler and Eytelwein: exp(μθ)",
        error=abs(wrap.leaving / wrap.arriving / math.exp(0.3 * wrap.angle) - 1), bound=1e-12,
    )  # fmt: skip
    gained = (two.velocity @ ways[1] - v) / (scene.time - t)
    expected = 0.2 * PULL * ratio / (20 * (1 + ratio))
    validated(
        "Cable that rubs on a body in its way", area="cables", quantity="acceleration",
        reference="Newton, with that ratio", error=abs(gained / expected - 1),
        bound=0.02 if integrator == "midpoint" else 2e-3,
    )  # fmt: skip


@pytest.mark.parametrize("integrator", ["euler", "bdf2"])
@pytest.mark.parametrize(("kind", "aside"), [("cylinder", 0.0), ("cylinder", 0.5), ("sphere", 0.0), ("box", 0.3)])
def test_holds_below_the_ratio_and_gives_above(kind: str, aside: float, integrator: str) -> None:
    """At 0.999 of the ratio it does not creep; at 1.001 it slides."""
    for share in (0.999, 1.001):
        scene, one, two, _, cable, *_ = pulled(kind, 0.3, share, aside=aside, integrator=integrator)
        scene.drag = 20.0  # pulled at once it would jolt
        scene.run(2.0, dt=H)
        scene.drag = 0.0
        before = np.concatenate((one.position, two.position))
        scene.run(2.0, dt=H)
        way = float(np.abs(np.concatenate((one.position, two.position)) - before).max())
        if share < 1:
            assert way < 1e-9
            assert not cable.wraps[0].slides or kind == "box"  # on one edge of a box it can have come to the bound
        else:
            assert way > 1e-3


@pytest.mark.parametrize("kind", ["cylinder", "sphere"])
@pytest.mark.parametrize("mu", [0.02, 1.0])
def test_turns_a_drum(kind: str, mu: float, validated: Any) -> None:
    """I α = (T₂ − T₁) R, sliding or stuck; stuck, the rim runs with the cable."""
    scene, _, two, body, cable, _, ways = pulled(kind, mu, 1.5, masses=(100, 100), tie="hinge", pull=1000.0)
    moment = 0.5 * 50.0 if kind == "cylinder" else 0.4 * 50.0
    scene.run(0.2, dt=1e-3)
    spin, turned = body.angular_velocity[1], 0.0
    for _ in range(20):
        scene.step(1e-3)
        (wrap,) = cable.wraps
        turned += 1e-3 * (wrap.leaving - wrap.arriving) / moment
    assert wrap.slides == (mu < 0.1)
    validated(
        "Cable that rubs on a body in its way", area="cables", quantity="what a drum is turned by",
        reference="I dω = (T₂ − T₁) R dt", error=abs((body.angular_velocity[1] - spin) / turned - 1), bound=2e-3,
    )  # fmt: skip
    if mu == 1.0:
        assert body.angular_velocity[1] == pytest.approx(two.velocity @ ways[1], rel=1e-2)  # which has turned a little


def test_a_drum_turns_with_what_a_winch_pays_out() -> None:
    """What sticks turns the drum at the winch's speed, however often, and the load's share of cable stays its own."""
    scene = sn.Scene(gravity=(0, 0, 0), drag=3.0)
    drum = scene.add(lying("cylinder"))
    scene.add(sn.Hinge(drum.at(), sn.World.at((0, 0, 0)), axis=(0, 1, 0)))
    load = ball(scene, 20.0, (1.2, 0, 0.02))
    cable = scene.add(
        rope([sn.World.at((-1.2, 0, 0.02)), load.at()], 1e6, around=[drum], friction=0.5, damping=2e4, longest=50.0)
    )
    scene.add(sn.Load(load.at(), force=(30, 0, -100)))
    scene.run(2.0, dt=H)
    cable.drive(speed=0.5)
    scene.run(1.0, dt=H)
    turned = 0.0
    for _ in range(1800):
        scene.step(H)
        turned += H * drum.angular_velocity[1]
    assert turned == pytest.approx(7.5, rel=1e-4)
    (wrap,) = cable.wraps
    assert not wrap.slides
    # the parts are as long as their spans and a half of what lies on the drum: the mark stayed behind at most by that
    rest = cable._tables.rows.rest[:2]
    assert rest.sum() == pytest.approx(cable.path_length, rel=1e-3)
    assert np.linalg.norm(load.position) - 1.0 < rest[1] < np.linalg.norm(load.position) + wrap.angle


@pytest.mark.parametrize("integrator", ["euler", "bdf2"])
@pytest.mark.parametrize("kind", SHAPES)
def test_momentum_is_kept(kind: str, integrator: Any) -> None:
    """A free body with two free balls on a cable over it: what friction gives one it takes from the others."""
    scene, one, two, body, cable, *_ = pulled(kind, 0.3, 1.0, masses=(2, 3), tie="free", integrator=integrator)
    for load in list(scene.loads):
        scene.remove(load)
    one.velocity, two.velocity, body.angular_velocity = (-1, 0, -2), (1, 0.1, -6), (0.1, 1.0, 0.2)
    start = np.concatenate((scene.linear_momentum, scene.angular_momentum))
    slid, first = False, scene.energy.total
    for _ in range(240):
        scene.step(1 / 240)
        slid = slid or any(wrap.slides for wrap in cable.wraps)
    assert slid
    now = np.concatenate((scene.linear_momentum, scene.angular_momentum))
    assert np.abs(now - start).max() < 1e-8
    assert scene.energy.total < first * (1 + 1e-6)


def landing(mu: float, integrator: Any) -> tuple[Any, ...]:
    """A cable that is paid out over a peg, which is lifted into it and lowered again."""
    scene = sn.Scene(gravity=(0, 0, 0), drag=2.0, integrator=integrator)
    peg = scene.add(sn.RigidBody.cylinder(0.2, 2.0, mass=5.0, pose=sn.Pose((0, 0, -0.3), ALONG_Y)))
    scene.add(sn.Follow(peg.at(), lambda t: (0, 0, -0.3 + 0.3 * math.sin(2 * t))))
    load = ball(scene, 10.0, (2, 0, 0))
    cable = scene.add(rope([sn.World.at((-2, 0, 0)), load.at()], 1e5, around=[peg], friction=mu, longest=20.0))
    scene.add(sn.Load(load.at(), force=(100, 0, 0)))
    cable.drive(speed=0.5)
    highest, seen, places = 0.0, set(), []
    for k in range(360):
        scene.step(H)
        highest = max(highest, cable.tension)
        places.append(load.position)
        if k % 10 == 0:
            seen.add(len(cable.wraps))
    return highest, seen, np.array(places)


@pytest.mark.parametrize("integrator", ["euler", "bdf2"])
def test_lands_while_it_runs(integrator: Any) -> None:
    """It comes to lie on a peg and leaves it again: cut and joined, next to no friction does what none does."""
    smooth, seen, way = landing(0.0, integrator)
    assert seen == {0, 1}
    highest, seen, other = landing(1e-9, integrator)
    assert seen == {0, 1}
    assert highest == pytest.approx(smooth, rel=1e-3)
    # two parts swing a little otherwise than one while it bounces, and come to the same
    assert np.abs(other - way).max() < 0.01
    assert np.abs(other - way)[-1].max() < 1e-4
    assert landing(0.5, integrator)[0] < 1.1 * smooth


def test_slack_runs_over_what_it_lies_on() -> None:
    """A loose cable over a body whose ends are put elsewhere: what one side has too little the other gives at once."""
    scene, one, two, _, cable, *_ = pulled("cylinder", 0.3, 1.0)
    for load in list(scene.loads):
        scene.remove(load)
    scene.step(H)
    one.position, two.position = (-1.5, 0, -3.0), (1.5, 0, -1.0)
    cable.length = cable.path_length + 0.1
    one.velocity = two.velocity = (0, 0, 0)
    scene.step(H)
    scene.step(H)
    rows = cable._tables.rows
    assert (rows.value[:2] < 1e-9).all()
    assert rows.rest[:2].sum() == pytest.approx(cable.length, rel=1e-12)
    assert np.linalg.norm(one.velocity) < 1e-6


@pytest.mark.parametrize("integrator", ["euler", "bdf2"])
def test_goes_on_from_snapshots_and_files(integrator: Any, tmp_path: Any) -> None:
    """Bit by bit, with the parts and marks that there are."""
    scene, *_ = pulled("box", 0.3, 1.1, tie="hinge", integrator=integrator)
    scene.run(0.1, dt=H)
    kept = scene.snapshot()
    scene.save(tmp_path / "rubbing.npz")
    ends = []
    for _ in range(2):
        scene.run(0.2, dt=H)
        ends.append(np.concatenate([body.position for body in scene.bodies]))
        scene.restore(kept)
    again = sn.Scene.load(tmp_path / "rubbing.npz")
    again.run(0.2, dt=H)
    ends.append(np.concatenate([body.position for body in again.bodies]))
    assert (ends[0] == ends[1]).all()
    assert (ends[0] == ends[2]).all()
    (cable,) = (tie for tie in again.constraints if isinstance(tie, sn.Cable))
    assert cable.friction == (0.3,)


def test_what_settles_stays() -> None:
    """At rest below the bound `settle` leaves it, and steps go on from there."""
    scene, one, two, _, cable, *_ = pulled("cylinder", 0.3, 0.9)
    scene.drag = 20.0
    scene.run(2.0, dt=H)
    scene.drag = 0.0
    before = np.concatenate((one.position, two.position))
    assert scene.settle().converged
    scene.run(0.5, dt=H)
    assert np.concatenate((one.position, two.position)) == pytest.approx(before, abs=1e-7)
    assert not cable.wraps[0].slides


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"friction": -0.1}, "friction must"),
        ({"friction": "rough"}, "friction must"),
        ({"around": "pair"}, "in it"),
        ({"around": "negative"}, "friction of"),
    ],
)
def test_what_is_refused(options: dict[str, Any], words: str) -> None:
    body = lying("sphere")
    around: Any = {"pair": [(body, 0.1, 2)], "negative": [(body, -0.1)]}.get(options.get("around", ""), [body])
    with pytest.raises(sn.InputError, match=words):
        sn.Cable([sn.World.at((-2, 0, 0)), sn.World.at((2, 0, 0))], **{**options, "around": around})


def test_with_contacts_in_one_solve() -> None:
    """A box on a table, drawn over a bollard: it stays up to e^{μθ} μ′ m g, then slides."""
    for share in (0.98, 1.02):
        scene = sn.Scene()
        table = scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1))))
        box = scene.add(sn.RigidBody.box((0.2, 0.2, 0.2), mass=10.0, position=(0, 0, 0.1)))
        post = scene.add(sn.RigidBody.cylinder(0.1, 2.0, mass=5.0, pose=sn.Pose((2.0, 0, 0.0), ALONG_Y)))
        scene.add(sn.Lock(post.at(), sn.World.at((2.0, 0, 0.0))))
        load = ball(scene, 1.0, (4.0, 0, -0.05), radius=0.05)
        cable = scene.add(rope([box.at((0.1, 0, 0)), load.at()], 1e5, around=[post], friction=0.2, damping=2e3))
        scene.collide(box, table, friction=0.4)
        (wrap,) = cable.wraps
        way = np.array(cable.path()[-1]) - np.array(cable.path()[-2])
        way /= np.linalg.norm(way)
        # horizontal first span: the box needs μ m g; the load is drawn along the second span, and carried
        needed = math.exp(0.2 * wrap.angle) * 0.4 * 10.0 * 9.81
        scene.add(sn.Load(load.at(), force=needed * share * way + np.array((0, 0, 9.81))))
        scene.drag = 20.0
        scene.run(2.0, dt=H)
        scene.drag = 0.0
        start = box.position[0]
        scene.run(1.0, dt=H)
        assert (box.position[0] - start > 1e-3) == (share > 1)


def test_between_places_that_nothing_moves() -> None:
    """What its row gives way is rounding there, of either sign."""
    scene = sn.Scene()
    post = scene.add(sn.RigidBody.cylinder(0.3, 1.0, mass=10.0, position=(1.5, 5, 2)))
    scene.add(sn.Clamp(post.at((0, 0, 0))))
    ends = [sn.World.at((0, 5.1, 2)), sn.World.at((3, 5.1, 2))]
    cable = scene.add(sn.Cable(ends, stretch_stiffness=1e4, around=[post], friction=0.3))
    scene.run(2e-2, dt=2e-3)
    assert len(cable.wraps) == 1 and np.isfinite(cable.tensions).all()
    assert 0.0 <= cable.tension < 1.0  # it was laid as it lies
