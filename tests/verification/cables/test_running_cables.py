"""Cable that runs over heavy sheaves, over bollards and off winches, in every scheme: no step may tear it.

Its rest lengths change with the steps, and must do so by the formula by which the bodies move. Beside the closed forms
of Atwood's machine, of Euler and Eytelwein and of Lagrange every case looks at the elongation, T L/EA part by part.
"""

from __future__ import annotations

import numpy as np
import pytest
from references import hoists
from references.scene_cases import INTEGRATORS
from verification.cables.rig import G, ball, kinds, rope

import sennit as sn

STIFFNESS, DAMPING = 1e6, 2e4  # N/m and N·s/m: a relaxation time of 20 ms takes out the jolt at the start
R = 0.2


def over(scene: sn.Scene, masses: tuple[float, float], stiffness: float = STIFFNESS, length: float | None = None,
         damping: float = DAMPING, **wheel):  # fmt: skip
    """Two balls 5 and 4 m under a sheave at the origin, and the cable over it."""
    one, two = ball(scene, masses[0], (-R, 0, -5)), ball(scene, masses[1], (R, 0, -4))
    sheave = sn.Sheave(sn.World.at((0, 0, 0)), axis=(0, 1, 0), radius=R, **wheel)
    cable = scene.add(rope([one.at(), sheave, two.at()], stiffness, length=length, damping=damping))
    return one, two, sheave, cable


PATH = 9 + np.pi * R


def spoke(wheel: sn.Sheave) -> float:
    """Length of cable on the wheel before the spoke at which its parts meet (it may be less than nothing), m."""
    return float(np.arctan2(wheel.mark[2], -wheel.mark[0])) * R


def stretch(one: sn.RigidBody, two: sn.RigidBody, wheel: sn.Sheave, tensions) -> float:
    """Σ T ℓ/EA over both parts; EA is that of the cable as it was made."""
    ways = spoke(wheel) - one.position[2], np.pi * R - spoke(wheel) - two.position[2]
    return float(np.dot(tensions, ways)) / (STIFFNESS * PATH)


def untroubled(scene: sn.Scene, integrator: str) -> bool:
    """Whether nothing was told but, once, that "fourth" leaves what is damped or rubs to "bdf2"."""
    return kinds(scene) == (["fallback"] if integrator == "fourth" else [])


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("h", [1 / 60, 0.004, 0.001])
def test_heavy_sheave(integrator, h, validated):
    scene, inertia, masses = sn.Scene(integrator=integrator), 0.5, (100.0, 150.0)
    one, two, wheel, cable = over(scene, masses, inertia=inertia)
    a = hoists.atwood_acceleration(*masses, inertia / R**2)
    scene.run(0.4, dt=h)
    t, v = scene.time, two.velocity[2]
    scene.run(0.4, dt=h)
    validated(
        "Pulley with inertia, every scheme",
        area="cables",
        quantity="acceleration",
        reference="(m₂ − m₁)g/(m₁ + m₂ + I/r²)",
        error=abs((v - two.velocity[2]) / (scene.time - t) / a - 1),
        bound=1e-4,
    )
    tensions = masses[0] * (G + a), masses[1] * (G - a)
    assert cable.tensions == pytest.approx(tensions, rel=1e-3)
    assert one.velocity[2] == pytest.approx(-two.velocity[2], rel=1e-3)
    assert wheel.rate * R == pytest.approx(-two.velocity[2], rel=1e-3)
    validated(
        "Pulley with inertia, every scheme",
        area="cables",
        quantity="elongation",
        reference="Σ T L/EA",
        error=abs(cable.elongation / stretch(one, two, wheel, tensions) - 1),
        bound=0.01,
    )
    assert untroubled(scene, integrator)


@pytest.mark.parametrize(("integrator", "bound"), [("bdf2", 1e-5), ("midpoint", 1e-5), ("fourth", 5e-8)])
def test_order_on_a_heavy_sheave(integrator, bound):
    """Of second order also in "fourth", if 25 times as exact as "midpoint": how stiff a part is follows what ran over
    the wheel in the step before.
    """
    # soft enough for the steps to follow the bounce of the loads and of the wheel
    masses, inertia, stiffness, strain, end = (100.0, 150.0), 4.0, 2e3, 0.06, 0.4
    errors = []
    for h in (0.01, 0.005, 0.0025, 0.00125):
        scene = sn.Scene(integrator=integrator)
        one, two, wheel, cable = over(scene, masses, stiffness, PATH / (1 + strain), 0.0, inertia=inertia)
        ways = 5 + spoke(wheel), PATH - 5 - spoke(wheel)
        expected = hoists.heavy_atwood(masses, inertia, R, ways, stiffness * cable.length, strain, end)
        scene.run(end, dt=h)
        found = -5 - one.position[2], -4 - two.position[2], wheel.angle * R
        errors.append(np.abs(np.array(found) - expected[:3] * (1, 1, R)).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert errors[-1] < bound
    assert orders[-1] > 1.8


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("h", [1 / 60, 0.004])
def test_bollard(integrator, h, validated):
    scene, masses, mu = sn.Scene(integrator=integrator), (20.0, 100.0), 0.2
    one, two, wheel, cable = over(scene, masses, friction=mu, fixed=True)
    rho = np.exp(mu * np.pi)
    a = hoists.capstan_acceleration(*masses, rho)
    scene.run(0.3, dt=h)
    t, v = scene.time, two.velocity[2]
    scene.run(0.3, dt=h)
    validated(
        "Cable that slides on a bollard, every scheme",
        area="cables",
        quantity="acceleration",
        reference="Newton, with exp(μθ)",
        error=abs((v - two.velocity[2]) / (scene.time - t) / a - 1),
        bound=1e-3,
    )
    tensions = masses[0] * (G + a), masses[1] * (G - a)
    assert cable.tensions[1] / cable.tensions[0] == pytest.approx(rho, rel=1e-9)
    assert cable.tensions == pytest.approx(tensions, rel=1e-3)
    assert one.velocity[2] == pytest.approx(-two.velocity[2], rel=1e-3)
    assert cable.elongation == pytest.approx(stretch(one, two, wheel, tensions), rel=0.03)
    assert untroubled(scene, integrator)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("h", [1 / 60, 0.004])
def test_tackle_with_heavy_sheaves(integrator, h, validated):
    # 2:1: the weight sinks by x, the block rises by x/2 and its wheel turns by x/2r
    scene, r, inertia, pull, load = sn.Scene(integrator=integrator), 0.1, 0.5, 160.0, 300.0
    weight = ball(scene, pull, (0, 0, -5))
    block = scene.add(sn.RigidBody.from_inertia(load, (1e9, 1e9, 1e9), position=(3 * r, 0, -5)))
    top = sn.Sheave(sn.World.at((r, 0, 0)), axis=(0, 1, 0), radius=r, inertia=inertia)
    low = sn.Sheave(block.at((0, 0, 0)), axis=(0, -1, 0), radius=r, inertia=inertia)
    cable = scene.add(rope([weight.at(), top, low, sn.World.at((4 * r, 0, 0))], STIFFNESS, damping=DAMPING))
    a = (pull - load / 2) * G / (pull + load / 4 + inertia / r**2 + inertia / (2 * r) ** 2)
    scene.run(0.4, dt=h)
    t, v = scene.time, weight.velocity[2]
    scene.run(0.4, dt=h)
    validated(
        "Tackle of two falls with heavy sheaves, every scheme",
        area="cables",
        quantity="acceleration",
        reference="Lagrange",
        error=abs((v - weight.velocity[2]) / (scene.time - t) / a - 1),
        bound=1e-4,
    )
    turned = a * inertia / r**2
    tensions = pull * (G - a) - turned * np.array([0.0, 1.0, 1.5])
    assert cable.tensions == pytest.approx(tensions, rel=1e-3)
    assert block.velocity[2] == pytest.approx(-weight.velocity[2] / 2, rel=1e-3)
    assert cable.elongation == pytest.approx(tensions.mean() / STIFFNESS, rel=0.01)
    assert untroubled(scene, integrator)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("speed", [-2.0, 2.0])
def test_winch(integrator, speed):
    # lowered from rest it hangs slack at first; its damper feels that it gets longer or shorter, ε T = φ + τ φ̇
    scene = sn.Scene(integrator=integrator)
    load = ball(scene, 100.0, (0, 0, -5))
    cable = scene.add(rope([sn.World.at((0, 0, 0)), load.at()], STIFFNESS, damping=DAMPING))
    cable.drive(speed=speed)
    scene.run(1.0, dt=1 / 60)
    force = 100.0 * G
    assert cable.length == pytest.approx(5.0 + speed, rel=1e-9)
    assert cable.tension == pytest.approx(force, rel=1e-3)
    assert load.velocity[2] == pytest.approx(-speed, abs=2e-3)
    expected = force / STIFFNESS * (cable.length - DAMPING / STIFFNESS * speed) / 5.0
    assert cable.elongation == pytest.approx(expected, rel=0.02 if integrator == "euler" else 0.001)
