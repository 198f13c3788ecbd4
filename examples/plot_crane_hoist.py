"""
A hoist with two falls
======================

A rope runs from a winch down to the sheave of a hook block and up again to a fixed point: two falls. The hook rises at
half the speed of the winch, and each fall carries half of the load. ``sennit.Cable`` is the rope: it has no mass, it
pulls and never pushes, and its winch is at its first point.
"""

import matplotlib.pyplot as plt
import numpy as np

import sennit as sn

GRAVITY, STEP = 9.81, 1.0 / 60.0
RADIUS, HEIGHT = 0.25, 12.0

# %%
# The hook block carries a sheave; a sling, a second cable, carries the load. Both falls hang upright.

scene = sn.Scene()
hook = scene.add(sn.RigidBody.box((0.4, 0.4, 0.8), mass=150.0, position=(0.0, 0.0, 3.0)))
load = scene.add(sn.RigidBody.box((1.5, 1.5, 1.0), mass=1000.0, position=(0.0, 0.0, 0.5)))
wheel = sn.Sheave(hook.at((0.0, 0.0, 0.2)), axis=(0, -1, 0), radius=RADIUS)
steel = sn.Material(youngs_modulus=1e11, poisson_ratio=0.3, density=7850, relaxation_time=5e-3)
rope = sn.Section.circle(radius=5e-3)
winch, anchor = sn.World.at((-RADIUS, 0.0, HEIGHT)), sn.World.at((RADIUS, 0.0, HEIGHT))
hoist = scene.add(sn.Cable([winch, wheel, anchor], rope, steel, torsion=False))
sling = scene.add(sn.Cable([hook.at((0.0, 0.0, -0.4)), load.at((0.0, 0.0, 0.5))], rope, steel, torsion=False))
scene.settle()

weight = (hook.mass + load.mass) * GRAVITY
print(f"at rest: {hoist.tension:.1f} N in a fall, half the weight is {weight / 2:.1f} N")
assert np.isclose(hoist.tension, weight / 2, rtol=1e-6)
assert np.isclose(sling.tension, load.mass * GRAVITY, rtol=1e-6)

# %%
# The winch hauls 1.6 m of rope a second, which it reaches within a second, and stops as gently.


def speed(time):
    """Of the rope, m/s: negative to haul in."""
    return -1.6 * np.clip(min(time - 1.0, 7.0 - time), 0.0, 1.0)


rows = []
while scene.time < 9.0 - STEP / 2:
    hoist.drive(speed(scene.time + STEP))
    scene.step(STEP)
    rows.append((scene.time, hook.position[2], hook.velocity[2], hoist.tension, sling.tension, hoist.length))
time, height, rise, fall, below, length = np.array(rows).T

# %%
# Half of the rope that was hauled in is height gained, and the tensions follow from the acceleration:
# :math:`2 T = (m_h + m_l)\,(g + a)`.

steady = (time > 3.0) & (time < 6.0)
acceleration = -np.gradient([speed(t) for t in time], STEP) / 2.0
expected = (hook.mass + load.mass) * (GRAVITY + acceleration) / 2.0
print(f"the hook rises at {rise[steady].mean():.4f} m/s, half the winch's speed is 0.8 m/s")
print(f"{length[0] - length[-1]:.3f} m hauled in, {height[-1] - height[0]:.3f} m gained")
assert np.isclose(rise[steady].mean(), 0.8, rtol=2e-3)
assert np.isclose(height[-1] - height[0], (length[0] - length[-1]) / 2.0, rtol=2e-3)
assert np.isclose(fall[time > 8.5].mean(), weight / 2.0, rtol=5e-3)

# %%
# After each change of speed the load bounces on its rope: the wiggles around the dotted line.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.plot(time, height, color="tab:blue", label="hook")
left.plot(time, height[0] + (length[0] - length) / 2.0, "k:", label="half of the rope hauled in")
right.plot(time, fall / 1e3, color="tab:orange", label="a fall")
right.plot(time, expected / 1e3, "k:", label="half of mass × (g + a)")
right.plot(time, below / 1e3, color="tab:green", label="sling")
left.set(xlabel="time (s)", ylabel="height (m)")
right.set(xlabel="time (s)", ylabel="tension (kN)", ylim=(0.0, None))
for axes in (left, right):
    axes.grid(alpha=0.3)
    axes.legend()
plt.show()
