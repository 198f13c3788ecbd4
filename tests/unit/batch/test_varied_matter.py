"""What `Batch.vary` gives besides moduli and masses: rest shapes, friction of contacts and cables; what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import sennit as sn

HEMP = sn.Material(1e7, 0.4, 1000, relaxation_time=0.02)
DT = 5e-3


def arm(model="spline", **given):
    """A rod that is clamped at its start: scene, rod; its tables are made."""
    scene = sn.Scene(integrator="bdf2")
    rod = scene.add(
        sn.Rod.straight(
            (0, 0, 0), (0.5, 0, 0), section=sn.Section.circle(5e-3), material=HEMP, control_points=10, model=model,
            **given,
        )
    )  # fmt: skip
    scene.add(sn.Clamp(rod.at(0)))
    assert scene.dofs > 0
    return scene, rod


CURVED = np.array(((0.0, 5.0, 0.0), (-3.0, 1.0, 2.0), (1.0, 0.0, 0.0)))
ALONG = np.cumsum(np.full((3, 4, 3), (0.5, -1.0, 0.3)), axis=1) * np.array((1.0, -2.0, 3.0))[:, None, None]


@pytest.mark.parametrize("model", ["spline", "discrete"])
@pytest.mark.parametrize(
    ("name", "values"),
    [("rest_curvature", CURVED), ("rest_curvature", CURVED[:, :2]), ("rest_curvature", ALONG),
     ("rest_curvature", ALONG[..., :2]), ("rest_twist", np.array((5.0, 1.0, -2.0))), ("rest_twist", ALONG[..., 2])],
)  # fmt: skip
@pytest.mark.parametrize("how", ["vary", "set"])
def test_each_rod_has_its_own_rest_shape(how, name, values, model) -> None:
    """As rods by themselves to which it is given after as many steps: to the last bit; and `reset` keeps what `vary`
    has given, and nothing that was set.
    """
    scene, rod = arm(model)
    scene.run(4 * DT, DT)
    batch = sn.Batch(scene, 3)
    batch.step(DT, 3)
    getattr(batch, how)(rod, name, values)
    batch.step(DT, 6)
    for i in range(3):
        own, own_rod = arm(model)
        own.run(7 * DT, DT)
        setattr(own_rod, name, values[i])
        own.run(6 * DT, DT)
        assert np.array_equal(batch.positions(rod)[i], own_rod.control_points)
        taken = batch.scene(i).bodies[0]
        assert isinstance(taken, sn.Rod)
        assert np.array_equal(taken.rest_curvature, own_rod.rest_curvature)
        assert np.array_equal(taken.rest_twist, own_rod.rest_twist)
    batch.reset()
    told = batch.read(rod, name)
    before = getattr(rod, name)
    assert not before.any()
    if how == "set":
        assert not told.any()
    else:
        assert np.abs(told).reshape(3, -1).max(axis=1).min() > 0.0
    taken = batch.scene(1)
    taken.step(DT)
    taken.reset()
    assert np.array_equal(getattr(taken.bodies[0], name), told[1])


def test_one_rest_shape_for_all() -> None:
    scene, rod = arm()
    batch = sn.Batch(scene, 4)
    given = batch.vary(rod, "rest_curvature", (0.0, 5.0))
    assert given.shape == (4, 2)
    assert (batch.read(rod, "rest_curvature") == (0.0, 5.0)).all()


def sled(friction=0.3, /, **pair):
    """A box on a plane that is pushed: scene, box, the rule of both."""
    scene = sn.Scene()
    box = scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=1.0, position=(0, 0, 0.05)))
    floor = scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1))))
    if pair:
        scene.contacts.friction = friction
        rule = scene.collide(box, floor, **pair)
    else:
        rule = scene.collide(friction=friction)
    box.velocity = (1.0, 0, 0)
    assert scene.dofs == 6
    return scene, box, rule


def test_friction_of_contacts_differs_from_scene_to_scene() -> None:
    """A box that slides comes to rest after v²/(2 μ g): as in scenes that were made so, to the last bit."""
    given = np.array((0.1, 0.3, 0.6))
    scene, box, rule = sled()
    batch = sn.Batch(scene, 3)
    assert np.array_equal(batch.vary(rule, "friction", given), given)
    again = sn.Batch(scene, 3)
    again.step(DT, 2)
    again.vary(rule, "friction", given)
    again.reset()
    for each in (batch, again):
        each.step(DT, 40)
        each.step(DT, 200)
    assert np.array_equal(batch.q, again.q)
    for i, mu in enumerate(given):
        own, own_box, _ = sled(mu)
        for _ in range(240):
            own.step(DT)
        assert np.array_equal(batch.positions(box)[i], own_box.position)
        assert own_box.position[0] == pytest.approx(1.0 / (2 * mu * 9.81), rel=0.03)
        taken = batch.scene(i)
        assert taken._rules.rules[0].law.friction == mu
        assert taken.contacts.between(taken.bodies[0]).friction is None
    assert rule.friction == 0.3, "the scene itself stays as it is"


def test_laws_of_several_pairs_do_not_mix() -> None:
    """The pair's own numbers, those of all others, one after the other; where rules said the same at first, too."""
    given, static, other = np.array((0.1, 0.4)), np.array((0.35, 0.9)), np.array((0.7, 0.05))

    def made(mu=0.3, limit=0.3, rest=0.3):
        scene, box, rule = sled(rest, friction=mu, static_friction=limit)
        ball = scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=1.0, position=(0, 1, 0.05)))
        ball.velocity = (1.0, 0, 0)
        scene.collide(ball, scene.obstacles[0])
        assert scene.dofs == 12
        return scene, box, ball, rule

    scene, box, ball, rule = made()
    batch = sn.Batch(scene, 2)
    batch.vary(rule, "static_friction", static)
    batch.vary(rule, "friction", given)
    batch.vary(scene.contacts, "friction", other)
    batch.vary(ball, "mass", np.array((1.0, 2.0)))
    batch.step(DT, 100)
    for i in range(2):
        own, own_box, own_ball, _ = made(given[i], static[i], other[i])
        own_ball.mass = 1.0 + i
        for _ in range(100):
            own.step(DT)
        assert np.array_equal(batch.positions(box)[i], own_box.position)
        assert np.array_equal(batch.positions(ball)[i], own_ball.position)
        taken = batch.scene(i)
        assert taken.contacts.friction == other[i]
        assert taken._rules.rules[0].law.static_friction == static[i]


def test_what_can_not_differ_is_refused_by_name_with_the_reason() -> None:
    scene, rod = arm()
    sled_scene, box, rule = sled()
    foreign = sled()[2]
    touching = sn.Scene()
    cord = touching.add(
        sn.Rod.straight((0, 0, 0.1), (1, 0, 0.1), section=sn.Section.circle(5e-3), material=HEMP, control_points=8,
                        name="cord")
    )  # fmt: skip
    touching.collide()
    batch, slid, touch = sn.Batch(scene, 3), sn.Batch(sled_scene, 3), sn.Batch(touching, 3)
    late = sled_scene.collide(box, sled_scene.obstacles[0], friction=0.1)
    before = [each.save()._words.copy() for each in (batch, slid, touch)]
    bad = CURVED.copy()
    bad[1, 2] = np.nan
    cases = [
        (lambda: touch.vary(cord, "radius", 4e-3), "radius of cord can't differ .* tables .* contacts"),
        (lambda: batch.vary(rod, "length", 2.0), "length of .* can't differ .* masses and the places"),
        (lambda: batch.vary(rod, "section", 2.0), "section of .* vary its radius"),
        (lambda: batch.vary(rod, "material", 2.0), "material of .* vary its numbers: youngs_modulus"),
        (lambda: batch.vary(rod, "damping", 2.0), "vary its relaxation_time"),
        (lambda: batch.vary(rod, "rest_curvature", bad), "that of scene 1 is"),
        (lambda: batch.vary(rod, "rest_curvature", np.zeros((2, 3))), r"must be \(B, 2\) or"),
        (lambda: batch.vary(rod, "rest_curvature", np.zeros((3, 1, 3))), "with B = 3 and k places"),
        (lambda: batch.set(rod, "rest_twist", np.zeros((3, 2, 2))), "k places along the rod"),
        (lambda: batch.set(rod, "rest_twist", "round"), "must be numbers"),
        (lambda: slid.vary(rule, "friction", (0.1, -0.2, 0.3)), "scene 1: friction must"),
        (lambda: slid.vary(rule, "restitution", (0.1, 0.2, 1.3)), "scene 2: restitution must be at most 1"),
        (lambda: slid.vary(rule, "colour", 0.1), "'colour'"),
        (lambda: slid.vary(sled_scene.contacts, "friction", np.zeros(2)), "must be an array"),
        (lambda: slid.set(rule, "friction", 0.1), "given by batch.vary"),
        (lambda: slid.vary(foreign, "friction", 0.1), "not those of the scene"),
        (lambda: slid.vary(late, "friction", 0.1), "no rule of their own when the batch was made"),
        (lambda: slid.vary(sled_scene.contacts.between(box), "friction", 0.1), "no rule of their own"),
    ]
    for act, text in cases:
        with pytest.raises(sn.InputError, match=text):
            act()
        for each, words in zip((batch, slid, touch), before, strict=True):
            assert np.array_equal(each.save()._words, words), text
    assert slid.scene(1)._rules.rules[0].law.friction == 0.3
