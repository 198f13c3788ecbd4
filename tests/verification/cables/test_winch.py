"""The winch: what it pays out and winds in, without lag; its slip, its greatest pull, its brake; the drum's end.

dL/dt = w + slip · T. A load hangs still in its own frame at constant speed: T = m g, and it sinks at dL/dt (1 + T/EA).
"""

from __future__ import annotations

import numpy as np
import pytest
from unit.scene.kit import drop
from verification.cables.rig import EA, G, H, ball, hung, kinds, rope

import sennit as sn

STRETCH = 1000 * G / EA  # per metre


@pytest.mark.parametrize("acceleration", [0.5, -0.5])
def test_load_follows_without_lag(acceleration):
    # speed grows for 2 s, then stays: the load is off by the swing that m a/k starts, not by h L' = 17 mm
    scene, body, cable = hung(settled=True)
    unit = 1000 * 0.5 * 4.0 / EA
    length, worst = 4.0, 0.0
    for k in range(240):
        speed = acceleration * H * min(k + 1, 120)
        cable.drive(speed=speed)
        scene.step(H)
        length += H * speed
        assert cable.length == pytest.approx(length, abs=1e-12)
        worst = max(worst, abs(-body.position[2] - length * (1 + STRETCH)))
    assert worst < 3.5 * unit
    assert body.velocity[2] == pytest.approx(-2 * acceleration, rel=5e-3)
    assert cable.tension == pytest.approx(1000 * G, rel=5e-3)


@pytest.mark.parametrize(("speed", "slip"), [(0.1, 1e-5), (-0.3, 2e-5), (0.0, 1e-5)])
def test_slip(speed, slip, validated):
    scene, body, cable = hung(settled=True)
    cable.drive(speed=speed, slip=slip)
    scene.run(5.0, dt=H)
    before = cable.length
    scene.step(H)
    rate = (cable.length - before) / H
    assert cable.tension == pytest.approx(1000 * G, rel=1e-8)
    validated(
        "Winch that slips",
        area="cables",
        quantity="rate",
        reference="speed + slip × tension",
        error=abs(rate / (speed + slip * 1000 * G) - 1),
        bound=1e-8,
    )
    assert body.velocity[2] == pytest.approx(-rate * (1 + STRETCH), rel=1e-6)


def test_greatest_pull(validated):
    # 8 kN on a ton: it sinks at 9.81 - 8 m/s², although the winch would wind in
    scene, body, cable = hung(settled=True)
    cable.drive(speed=-0.2, max_pull=8000.0)
    for k in range(60):
        scene.step(H)
        assert cable.tension == pytest.approx(8000.0, rel=1e-10)
        assert body.velocity[2] == pytest.approx(-1.81 * (k + 1) * H, rel=1e-9)
    validated(
        "Winch with too little pull",
        area="cables",
        quantity="position (m)",
        reference="free fall less the pull, stepwise",
        error=abs(body.position[2] - drop(-4.0 - 4 * STRETCH, 60, H, 1.81)),
        bound=1e-9,
    )
    # what it gave is on the cable
    assert cable.path_length - cable.length == pytest.approx(8000.0 * cable.length / EA, rel=1e-3)


def test_pull_that_suffices():
    scene, body, cable = hung(settled=True)
    cable.drive(speed=-0.2, max_pull=15000.0)
    scene.run(5.0, dt=H)
    assert cable.length == pytest.approx(3.0, abs=0.02)
    assert body.velocity[2] == pytest.approx(0.2, abs=2e-3)
    assert cable.tension < 15000.0


def test_release_and_brake():
    scene, body, cable = hung(settled=True)
    scene.step(H)
    cable.release()
    start = body.position[2]
    for k in range(30):
        scene.step(H)
        assert cable.tension == 0.0
        assert body.position[2] == pytest.approx(drop(start, k + 1, H), abs=1e-6)
    # what ran off the drum
    assert cable.length == pytest.approx(-body.position[2], abs=3 * 4 * STRETCH)
    cable.brake()
    scene.step(H)
    held = cable.length
    scene.run(15.0, dt=H)
    assert cable.length == held
    assert held < 4.0 + 1.5 + 0.2
    assert body.position[2] == pytest.approx(-held * (1 + STRETCH), abs=1e-6)
    assert cable.tension == pytest.approx(1000 * G, rel=1e-5)


def test_brake_ends_a_drive():
    scene, _, cable = hung(settled=True)
    cable.drive(speed=0.5)
    scene.run(1.0, dt=H)
    cable.brake()
    scene.step(H)
    held = cable.length
    scene.run(1.0, dt=H)
    assert held == pytest.approx(4.5, abs=1e-9)
    assert cable.length == held


def test_released_cable_does_not_wind_itself_in():
    scene, body, cable = hung(settled=True)
    cable.release()
    body.velocity = (0, 0, 3.0)
    scene.run(0.2, dt=H)
    assert cable.length >= 4.0 - 1e-12
    assert cable.tension == 0.0


def test_set_length():
    # reached at the end of the next step
    scene, body, cable = hung(settled=True)
    cable.length = 3.9
    scene.step(H)
    assert cable.length == pytest.approx(3.9, abs=1e-12)
    scene.run(10.0, dt=H)
    assert cable.length == pytest.approx(3.9, abs=1e-12)
    assert body.position[2] == pytest.approx(-3.9 * (1 + STRETCH), abs=1e-6)
    # by hand, 1 mm a step: the load rises at 60 mm/s
    for k in range(300):
        cable.length = 3.9 - 1e-3 * (k + 1)
        scene.step(H)
    assert cable.length == pytest.approx(3.6, abs=1e-12)
    assert body.velocity[2] == pytest.approx(0.06, abs=2e-3)


def test_paid_out():
    scene, body, cable = hung(settled=True, longest=5.0)
    cable.drive(speed=0.5)
    scene.run(1.9, dt=H)
    assert "paid_out" not in kinds(scene)
    scene.run(5.0, dt=H)
    assert kinds(scene).count("paid_out") == 1
    event = next(e for e in scene.events if e.kind == "paid_out")
    assert cable in event.subjects
    assert event.time == pytest.approx(2.0, abs=2 * H)
    assert cable.length == pytest.approx(5.0, abs=1e-12)
    assert body.position[2] == pytest.approx(-5.0 * (1 + STRETCH), abs=1e-4)
    assert np.abs(body.velocity).max() < 0.01


def test_a_free_drum_runs_out():
    scene, body, cable = hung(settled=True, longest=6.0)
    cable.release()
    scene.run(10.0, dt=H)
    assert kinds(scene).count("paid_out") == 1
    assert cable.length == pytest.approx(6.0, abs=1e-12)
    assert body.position[2] == pytest.approx(-6.0 * (1 + STRETCH), abs=1e-4)
    assert cable.tension == pytest.approx(1000 * G, rel=1e-2)  # it still rings


def test_wound_in():
    scene, body, cable = hung(settled=True)
    cable.drive(speed=-0.5)
    scene.run(7.0, dt=H)
    assert kinds(scene).count("wound_in") == 0
    assert cable.length == pytest.approx(0.5, abs=1e-9)
    scene.run(3.0, dt=H)
    assert kinds(scene).count("wound_in") == 1
    left = cable.length
    assert 0.0 < left < 0.5
    scene.run(1.0, dt=H)
    assert cable.length == left
    assert np.isfinite(body.position).all()
    assert np.abs(body.position).max() < 1.0
    # and out again
    cable.drive(speed=0.5)
    scene.run(2.0, dt=H)
    assert cable.length == pytest.approx(left + 1.0, abs=1e-9)


def test_an_anchor_that_is_moved_by_hand() -> None:
    """Lifted with a = 0.5 m/s² the load feels m (g + a), and follows without a lag beyond the elastic stretch."""
    k, a = 1e6, 0.5
    scene = sn.Scene()
    load = ball(scene, 1000.0, (0, 0, -4 - 1000 * G / k))
    anchor = sn.World.at((0, 0, 0))
    cable = scene.add(rope([anchor, load.at()], k, length=4.0, damping=H * k))
    for step in range(1, 121):
        anchor.position = (0, 0, a / 2 * (step * H) ** 2)
        scene.step(H)
        if step > 60:
            assert cable.tension == pytest.approx(1000 * (G + a), rel=1e-3)
            assert cable.elongation == pytest.approx(1000 * (G + a) / k, rel=0.03)
    assert load.velocity[2] == pytest.approx(2 * a, rel=0.01)
    # and held still again it hangs as before
    scene.run(5.0, dt=H)
    assert cable.tension == pytest.approx(1000 * G, rel=1e-4)
