"""
A rope through a hole
=====================

Two weights hang on a rope that runs through a hole: Atwood's machine with a ring for its wheel. A *keyhole* is a
slider, a body of one degree of freedom whose point moves along the rope, joined to the point that is the hole. Its
friction is Coulomb's. The weights should fall as the closed form says, or not at all.
"""

import matplotlib.pyplot as plt
import numpy as np

import sennit as sn

HEAVY, LIGHT = 3.0, 2.0
GRAVITY = 9.81

# %%
# The rope hangs over the hole in a bend as narrow as its stiffness lets it be. That bend must be resolved, and its
# spans are 14 mm long here: a rope that bends within one span sticks to the spans as it runs.


def machine(friction):
    """Rope, weights and hole at rest, the heavy weight on a ledge."""
    scene = sn.Scene(gravity=(0, 0, -GRAVITY), integrator="bdf2")
    angle = np.linspace(np.pi, 0.0, 31)
    bend = 0.05 * np.column_stack((np.cos(angle), 0.0 * angle, np.sin(angle) - 1.0))
    low = np.array((0.0, 0.0, -0.7))
    legs = np.linspace(1.0, 0.0, 30, endpoint=False)[:, None] * low
    rope = scene.add(
        sn.Rod.through(
            np.concatenate((bend[0] + legs, bend, (bend[-1] + legs)[::-1])),
            straight=True,
            section=sn.Section.circle(radius=5e-3),
            material=sn.Material(youngs_modulus=1e8, poisson_ratio=0.4, density=1000),
            control_points=120,
        )
    )
    hole = scene.add(sn.Keyhole(rope, at=rope.length / 2, hole=sn.World.at((0, 0, 0))))
    weights = []
    for mass, end in ((HEAVY, rope.at(0.0)), (LIGHT, rope.at(rope.length))):
        weight = scene.add(sn.RigidBody.sphere(radius=0.05, mass=mass, position=end.position - (0, 0, 0.05)))
        scene.add(sn.Ball(weight.at((0, 0, 0.05)), end))
        weights.append(weight)
    ledge = scene.add(sn.OnPlane(weights[0].at(), normal=(0, 0, 1)))
    scene.settle()
    # Rope, weights and ledge are in balance: what the outside applies to them sums to zero.
    everything = (HEAVY + LIGHT + rope.mass) * GRAVITY
    assert abs(hole.force[2] + ledge.force[2] - everything) < 1e-6 * everything
    # Settled without friction, so that both sides pull alike; only now the hole becomes rough.
    scene.remove(hole)
    hole = scene.add(sn.Keyhole(rope, at=hole.s, hole=sn.World.at((0, 0, 0)), friction=friction))
    scene.remove(ledge)
    return scene, rope, hole, weights


# %%
# With the masses :math:`m_1` and :math:`m_2`, a rope of mass :math:`m` and a force :math:`N` in the hole, friction
# :math:`\mu` leaves
#
# .. math:: (m_1 + m_2 + m)\,a = (m_1 - m_2)\,g - \mu N, \qquad N = (m_1 + m_2 + m)\,g - (m_1 - m_2)\,a,
#
# while it slides, the rope's own overhang left out; it stays at rest where that gives a negative :math:`a`.


def acceleration(friction, rope):
    """m/s²"""
    whole, apart = HEAVY + LIGHT + rope.mass, HEAVY - LIGHT
    return max(GRAVITY * (apart - friction * whole) / (whole - friction * apart), 0.0)


# %%
# The fall of the weights is the mean of what one goes down and the other up: this leaves out most of their bouncing on
# the rope, which begins when the ledge goes.

runs = []
for friction in (0.0, 0.05, 0.1, 0.6):
    scene, rope, hole, weights = machine(friction)
    start = np.array([weight.position[2] for weight in weights])
    held = hole.s
    times, falls = [0.0], [0.0]
    shapes = [(rope.centerline(300), [weight.position for weight in weights])]

    def watch(scene, start=start, rope=rope, weights=weights, times=times, falls=falls, shapes=shapes):
        """Note the weights after each step, and the rope's shape at some."""
        down, up = np.array([weight.position[2] for weight in weights]) - start
        times.append(scene.time)
        falls.append(0.5 * (up - down))
        if len(times) % 250 == 1:
            shapes.append((rope.centerline(300), [weight.position for weight in weights]))

    scene.run(0.5, dt=1e-3, each=watch)
    a = acceleration(friction, rope)
    runs.append((friction, a, np.array(times), np.array(falls), shapes))
    # The rope's stretch when the ledge goes, and the bouncing, add to the fall, but not to its second derivative.
    seen = 2.0 * np.polyfit(times, falls, 2)[0]
    print(f"friction {friction:4.2f}: accelerates at {seen:6.3f} m/s², closed form {a:6.3f} m/s²")
    if a > 0.0:
        assert abs(seen - a) < 0.05 * a
    else:
        assert abs(hole.s - held) < 1e-6  # the weights bounce on the rope, but it does not slip

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained", width_ratios=(1, 1.6))
colours = plt.cm.viridis(np.linspace(0.0, 0.85, len(runs)))
for (line, places), shade in zip(runs[0][4], (0.25, 0.5, 1.0), strict=True):
    left.plot(line[:, 0], line[:, 2], color=colours[0], alpha=shade)
    for place, mass in zip(places, (HEAVY, LIGHT), strict=True):
        left.plot(place[0], place[2], "o", color=colours[0], alpha=shade, markersize=4 + 3 * mass)
left.plot(0, 0, "o", color="black", markersize=8, markerfacecolor="white")
left.set(xlabel="x (m)", ylabel="z (m)", aspect="equal", xlim=(-0.3, 0.3))
for (friction, a, times, falls, _), colour in zip(runs, colours, strict=True):
    right.plot(times, 1e3 * falls, color=colour, label=f"friction {friction:g}")
    right.plot(times[::25], 1e3 * a * times[::25] ** 2 / 2, "o", color=colour, markersize=4, markerfacecolor="none")
right.set(xlabel="time (s)", ylabel="fall of the heavy weight (mm)")
right.legend(title="circles: closed form")
right.grid(alpha=0.3)
plt.show()
