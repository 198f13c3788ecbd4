"""
A ball pressed into a soft pad
==============================

``sennit.Zone`` is a soft body at small strains. Its Green's functions are computed once from a closed triangle mesh and
kept on disk; after that, pressing a rigid shape into it takes a fraction of a millisecond. A ball is pressed into a pad
of gel, and then drawn to and fro with friction. Hertz and Mindlin have closed forms for both on a body without end.
"""

import matplotlib.pyplot as plt
import numpy as np
import trimesh

import sennit as sn

# %%
# The pad is a dome 20 mm high, half of a ball that sits in a rigid socket. An imprint must be several triangles wide,
# so the mesh of a sphere is drawn together towards the top: :math:`\tan(\theta/2)` is divided by four, which keeps the
# triangles' shapes.

DOME = 0.02
mesh = trimesh.creation.icosphere(subdivisions=3)
polar = 2 * np.arctan(0.25 * np.tan(np.arccos(mesh.vertices[:, 2]) / 2))
around = np.arctan2(mesh.vertices[:, 1], mesh.vertices[:, 0])
vertices = DOME * np.column_stack((np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), np.cos(polar)))
gel = sn.Material(youngs_modulus=5e4, poisson_ratio=0.45, density=1000)
pad = sn.Zone.from_mesh(vertices, mesh.faces, material=gel, fixed=vertices[:, 2] < 0, name="pad")
print(f"{len(vertices)} vertices, {len(pad.fixed)} of them fixed")

# %%
# Pressed without friction, deeper and deeper. With :math:`E^* = E/(1 - \nu^2)` and the curvatures of dome and ball
# together, :math:`1/R = 1/R_1 + 1/R_2`, Hertz has
#
# .. math:: P = \tfrac43 E^* \sqrt R\,\delta^{3/2}, \qquad a^3 = \frac{3 P R}{4 E^*}, \qquad
#     p_0 = \frac{3 P}{2 \pi a^2} .
#
# His body has no end. This one is stiffer, since its socket is near; radius and peak pressure depend on the force
# alone, and hardly know.

BALL = 0.04
R = DOME * BALL / (DOME + BALL)
modulus = gel.youngs_modulus / (1 - gel.poisson_ratio**2)


def ball(depth, x=0.0):
    """The ball, `depth` deep in the undeformed pad."""
    return sn.Sphere((x, 0, DOME + BALL - depth), BALL)


def hertz(force):
    """Radius of the imprint, m, and pressure in its middle, Pa."""
    radius = (0.75 * force * R / modulus) ** (1 / 3)
    return radius, 1.5 * force / (np.pi * radius**2)


print("  depth   vertices    force  of Hertz's   radius  of Hertz's      peak  of Hertz's")
for depth in (3e-4, 6e-4, 1e-3, 1.5e-3):
    state = pad.press(ball(depth))
    force = -state.force[2]
    radius, peak = hertz(force)
    print(
        f"{1e3 * depth:4.1f} mm     {len(state.patch):4d}     {1e3 * force:4.0f} mN  "
        f"× {force / (4 / 3 * modulus * np.sqrt(R) * depth**1.5):.3f}    "
        f"{1e3 * state.contact_radius:.2f} mm  × {state.contact_radius / radius:.3f}   "
        f"{state.peak_pressure / 1e3:6.2f} kPa  × {state.peak_pressure / peak:.3f}"
    )
    assert abs(state.contact_radius / radius - 1) < 0.04
    assert abs(state.peak_pressure / peak - 1) < 0.08

# %%
# What the ball applies, what the support applies, and nothing else: forces and moments balance to rounding.

assert np.abs(state.forces.sum(axis=0)).max() < 1e-10 * force
assert np.abs(np.cross(vertices, state.forces).sum(axis=0)).max() < 1e-10 * force * 0.04

# %%
# Now with friction. Each press goes on from the one before (``after=``), so that vertices stick to the places of the
# ball where they are. Drawn sideways by :math:`s`, the ball is held by a disc that shrinks as a ring round it begins to
# slip; when everything slips, the force is :math:`\mu P`.

FRICTION, DEPTH = 0.3, 1e-3
places = 7e-4 * np.concatenate((np.linspace(0, 1, 13), np.linspace(1, -1, 25)[1:], np.linspace(-1, 1, 25)[1:]))
state = pressed = pad.press(ball(DEPTH), friction=FRICTION)
drag, stuck = [], []
for x in places:
    state = pad.press(ball(DEPTH, x), friction=FRICTION, after=state)
    drag.append(state.force[0] / -state.force[2])
    stuck.append(len(state.sticking) / len(state.patch))
print(f"drawn by {1e3 * places.max():.2f} mm: tangential over normal force {max(drag):.4f}, friction is {FRICTION}")
assert abs(max(drag) - FRICTION) < 0.01 and min(stuck) == 0.0

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
still = pad.press(ball(DEPTH))
radius, peak = hertz(-still.force[2])
r = np.linspace(0, radius, 200)
left.plot(1e3 * r, peak * np.sqrt(1 - (r / radius) ** 2) / 1e3, "k", label="Hertz, at the same force")
top = np.flatnonzero((vertices[:, 2] > 0) & (np.hypot(*vertices[:, :2].T) < 1.5 * radius))
left.plot(1e3 * np.hypot(*vertices[top, :2].T), still.pressures[top] / 1e3, "o", markersize=4, label="vertices")
left.set(xlabel="distance from the middle (mm)", ylabel="pressure (kPa)")
left.legend()
points = right.scatter(1e3 * places, drag, c=stuck, cmap="viridis", s=18, zorder=3)
right.plot(1e3 * places, drag, color="0.6", linewidth=1)
for sign in (1, -1):
    right.axhline(sign * FRICTION, color="k", linestyle=":")
right.set(xlabel="way of the ball (mm)", ylabel="tangential over normal force")
figure.colorbar(points, label="part of the vertices that stick")
for axes in (left, right):
    axes.grid(alpha=0.3)
plt.show()

# %%
# The pad drawn sideways, coloured by pressure, as ``state.plot()`` shows it.

state.plot(scale=1.0)
plt.show()
