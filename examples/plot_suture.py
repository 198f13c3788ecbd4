"""
A suture rolled between the fingers
===================================

A nylon thread is clamped at one end. Fingers hold the other end in place and roll it about its axis, two turns and a
half in all. Twist and bending trade with each other: the thread leaves its plane and curls. Each solve starts from the
equilibrium before it, as an interactive program would do.
"""

import matplotlib.pyplot as plt
import numpy as np

import sennit as sn

nylon = sn.Material(youngs_modulus=2.7e9, poisson_ratio=0.39, density=1150)
thread = sn.Section.circle(radius=2e-4)
suture = sn.Strand(length=0.25, section=thread, material=nylon, nodes=201)

# %%
# The base stands upright at the origin; the tip is held 14 cm away, pointing up as well. A turn of the tip about its
# own axis is a quaternion about z.

base = sn.Pose()
turns = np.linspace(0.0, 2.5, 251)
gravity = np.array((0.0, 0.0, -9.81))

states = []
state = None
for angle in 2 * np.pi * turns:
    tip = sn.Pose((0.1, 0.0, 0.1), (np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)))
    state = suture.solve(base=base, tip=tip, gravity=gravity, guess=state)
    states.append(state)

# %%
# Whatever the shape, the two grips carry the weight of the thread, and each shape is a minimum of the energy.

weight = nylon.density * np.pi * 2e-4**2 * suture.length * gravity
for state in states:
    assert np.allclose(state.base_force + state.tip_force + weight, 0.0, atol=1e-9 * np.linalg.norm(weight))
    assert state.stable

# %%
# The shapes after every half turn.

figure = plt.figure(figsize=(7, 6))
axes = figure.add_subplot(projection="3d")
shown = range(0, len(states), 50)
for index, colour in zip(shown, plt.cm.viridis(np.linspace(0.0, 0.9, len(shown))), strict=True):
    axes.plot(*(1e3 * states[index].positions.T), color=colour, label=f"{turns[index]:.1f} turns")
axes.set(xlabel="x (mm)", ylabel="y (mm)", zlabel="z (mm)")
axes.set_aspect("equal")
axes.legend()
figure.tight_layout()

# %%
# What the fingers apply: the torque about the thread's axis, and the force. A jump is a snap, where one equilibrium
# ceases to exist and the thread falls into another.

figure, (above, below) = plt.subplots(2, sharex=True, figsize=(7, 5))
above.plot(turns, [1e6 * state.tip_torque[2] for state in states])
above.set_ylabel("torque about z (µN·m)")
below.plot(turns, [1e3 * np.linalg.norm(state.tip_force) for state in states])
below.set_ylabel("force (mN)")
below.set_xlabel("turns of the tip")
figure.tight_layout()
plt.show()
