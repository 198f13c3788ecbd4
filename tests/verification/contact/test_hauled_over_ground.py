"""A winch that drags a box over the ground: cable, contacts and friction in one solve; what is read of friction."""

from __future__ import annotations

import numpy as np
import pytest

import sennit as sn

G = 9.81
MASS, FRICTION = 20.0, 0.4
H = 1 / 1000


def ground_and_box(**law: float) -> tuple[sn.Scene, sn.Obstacle, sn.RigidBody, sn.ContactPair]:
    scene = sn.Scene()
    ground = scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1)), name="ground"))
    box = scene.add(sn.RigidBody.box((0.4, 0.4, 0.2), mass=MASS, position=(0, 0, 0.1)))
    return scene, ground, box, scene.collide(box, ground, **law)


@pytest.mark.parametrize("static", [None, 0.6])
def test_a_winch_drags_a_box(static: float | None, validated) -> None:
    """The cable tightens until μ m g (of sticking) are reached, the box lies still until then; then it is dragged with
    μ m g, as fast as the winch hauls.
    """
    scene, _, box, pair = ground_and_box(friction=FRICTION, static_friction=static)
    way = [sn.World.at((3, 0, 0.1)), box.at((0.2, 0, 0.0))]  # at the height of the centre
    cable = scene.add(sn.Cable(way, stretch_stiffness=1e5, damping=500.0))
    scene.run(0.2, H)
    cable.drive(speed=-0.02)
    lying, tensions = True, []
    limit = (static or FRICTION) * MASS * G
    while lying and scene.time < 1.0:
        scene.step(H)
        lying = abs(box.position[0]) < 1e-8
        if lying:
            tensions.append(cable.tension)
            assert pair.force == pytest.approx((-cable.tension, 0, MASS * G), abs=0.02 * limit)
    validated(
        "A winch drags a box", area="contact", quantity="tension at which it lets go, of μ m g",
        reference="Coulomb's law", error=abs(max(tensions) / limit - 1.0), bound=0.03,
    )  # fmt: skip
    scene.run(1.5, H)
    validated(
        "A winch drags a box", area="contact", quantity="tension while it slides, of μ m g",
        reference="Coulomb's law", error=abs(cable.tension / (FRICTION * MASS * G) - 1.0), bound=2e-3,
    )  # fmt: skip
    assert box.velocity[0] == pytest.approx(0.02, rel=0.02)
    assert abs(box.velocity[2]) < 1e-6 and abs(box.angular_velocity).max() < 1e-5


def test_both_coefficients_and_what_they_do_are_read() -> None:
    """Static and sliding friction of a pair, and of each contact force, slip and state."""
    scene, ground, box, pair = ground_and_box(friction=FRICTION, static_friction=0.6, rolling_friction=1e-3)
    assert (pair.friction, pair.static_friction, pair.rolling_friction) == (FRICTION, 0.6, 1e-3)
    pair.static_friction = 0.5
    assert scene.contacts.between(box, ground).static_friction == 0.5
    box.velocity = (1.0, 0, 0)
    scene.run(0.05, H)
    for contact in scene.contacts:
        assert contact.state == "slip"
        assert contact.slip == pytest.approx((H * box.velocity[0], 0, 0), abs=1e-9)
        along = contact.force - contact.normal * (contact.force @ contact.normal)
        assert np.linalg.norm(along) == pytest.approx(FRICTION * (contact.force @ contact.normal), rel=1e-5)
    scene.run(0.5, H)
    assert {contact.state for contact in scene.contacts} == {"stick"}
