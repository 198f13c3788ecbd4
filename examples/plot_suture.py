"""
A twisted suture given slack
============================

A nylon thread is held by both ends and rolled three times around. As long as it is pulled tight it stays nearly
straight; given slack, it trades twist for bending, coils up, and at some point snaps into another shape. Each solve
starts from the equilibrium before it, as an interactive program would do.
"""

import matplotlib.pyplot as plt
import numpy as np

import sennit as sn

nylon = sn.Material(youngs_modulus=2.7e9, poisson_ratio=0.39, density=1150)
thread = sn.Section.circle(radius=2e-4)
suture = sn.Strand(length=0.25, section=thread, material=nylon, nodes=201)

# %%
# Both ends lie along x. Fingers roll the tip about its axis, then push it towards the base and pull it back.

base = sn.Pose.along((0, 0, 0), (1, 0, 0))
gravity = np.array((0.0, 0.0, -9.81))


def held(distance, turns):
    """The tip's pose: `distance` (m) from the base, rolled by `turns`."""
    half = np.pi * turns
    return sn.Pose.along((distance, 0, 0), (1, 0, 0)) @ sn.Pose((0, 0, 0), (np.cos(half), 0, 0, np.sin(half)))


state = None
for turns in np.linspace(0.0, 3.0, 61):
    state = suture.solve(base=base, tip=held(0.235, turns), gravity=gravity, guess=state)

inwards = np.linspace(0.235, 0.1, 271)
distances = np.concatenate((inwards, inwards[-2::-1]))
states = []
for distance in distances:
    state = suture.solve(base=base, tip=held(distance, 3.0), gravity=gravity, guess=state)
    states.append(state)

# %%
# Whatever the shape, the two grips carry the weight of the thread, and each shape is a minimum of the energy.

weight = suture.mass_per_length * suture.length * gravity
for state in states:
    assert np.allclose(state.base_force + state.tip_force + weight, 0.0, atol=1e-9 * np.linalg.norm(weight))
    assert state.stable

# %%
# What the fingers work on the thread is stored in it, to the error of the trapezoidal rule, except where it snaps:
# there some is lost, and nothing is ever gained.

pull = np.array([state.tip_force[0] for state in states])
energy = np.array([state.energy.total for state in states])
work = 0.5 * (pull[1:] + pull[:-1]) * np.diff(distances)
lost = work - np.diff(energy)
snaps = np.flatnonzero(lost > 1e-6)
assert len(snaps) >= 1
assert lost.min() > -1e-7
for k in snaps:
    print(f"at {1e3 * distances[k]:.1f} mm it snaps and loses {1e3 * lost[k]:.2f} mJ")

# %%
# The shapes on the way in. The thread does not touch itself here: when it snaps it passes through itself, and that
# takes two turns out of it.

figure = plt.figure(figsize=(8, 5.5))
axes = figure.add_subplot(projection="3d")
shown = range(0, len(inwards), 54)
for index, colour in zip(shown, plt.cm.viridis(np.linspace(0.0, 0.9, len(shown))), strict=True):
    axes.plot(*(1e3 * states[index].positions.T), color=colour, label=f"{1e3 * distances[index]:.0f} mm")
axes.set(xlabel="x (mm)", ylabel="y (mm)", zlabel="z (mm)")
axes.set_aspect("equal")
axes.legend(title="distance of the ends", loc="upper right")
figure.tight_layout()

# %%
# The pull of the fingers and the twist of the thread. They don't come back the way they went.

twist = [np.trapezoid(state.curvatures[:, 2], state.s) / (2 * np.pi) for state in states]
figure, panels = plt.subplots(2, sharex=True, figsize=(8, 5.5))
for values, axes in zip((1e3 * pull, np.array(twist)), panels, strict=True):
    axes.plot(1e3 * inwards, values[: len(inwards)], label="pushed in")
    axes.plot(1e3 * inwards[::-1], values[len(inwards) - 1 :], "--", label="pulled back")
    axes.grid(alpha=0.3)
panels[0].set_ylabel("pull (mN)")
panels[0].legend()
panels[1].set(xlabel="distance of the ends (mm)", ylabel="twist (turns)")
figure.tight_layout()

# %%
# Everything about one state: here the last one before the snap.

states[snaps[0]].plot()
plt.show()
