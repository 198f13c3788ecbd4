"""
A hanging rope
==============

A rope hangs between two points. Without bending stiffness it would be a catenary; with some it leaves it where it is
clamped. ``scene.settle()`` finds the equilibrium and says whether it is stable; the constraints tell what holds the
rope. A ``Strand``, which is solved in quite another way, should agree.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import brentq

import sennit as sn

GRAVITY = np.array((0.0, 0.0, -9.81))
SPAN, LENGTH = 1.0, 1.4

# %%
# The catenary through (0, 0) and (SPAN, 0) with the rope's length: :math:`z = c\,(\cosh(x/c - X) - \cosh X)` with
# :math:`X = \frac{1}{2}\,\mathrm{SPAN}/c` and :math:`2 c \sinh X = \mathrm{LENGTH}`. Its pull along x is the weight of
# a length c.

c = brentq(lambda c: 2.0 * c * np.sinh(0.5 * SPAN / c) - LENGTH, 0.05, 10.0)
half = 0.5 * SPAN / c


def catenary(x):
    """Height at x, m."""
    return c * (np.cosh(x / c - half) - np.cosh(half))


# %%
# Ropes of the same weight and of different stiffness. Each is straight at rest and laid along the catenary to begin
# with. The left end is clamped along x, the right end only held in place.


def hang(youngs_modulus):
    """Rope, clamp and grip of the settled scene, and the report."""
    scene = sn.Scene(gravity=GRAVITY)
    x = c * (np.arcsinh(np.linspace(0.0, LENGTH, 61) / c - np.sinh(half)) + half)
    rope = scene.add(
        sn.Rod.through(
            np.column_stack((x, 0.0 * x, catenary(x))),
            straight=True,
            section=sn.Section.circle(radius=1e-3),
            material=sn.Material(youngs_modulus=youngs_modulus, poisson_ratio=0.4, density=1000),
            control_points=100,
        )
    )
    clamp = scene.add(sn.Clamp(rope.at(0.0), target=sn.Pose.along((0, 0, 0), (1, 0, 0))))
    grip = scene.add(sn.Fix(rope.at(rope.length)))
    report = scene.settle()
    return rope, clamp, grip, report


moduli = (1e7, 1e8, 1e9)
ropes = [hang(modulus) for modulus in moduli]

# %%
# The two ends carry the weight, whatever the stiffness. The softest rope pulls its grip almost as the catenary does.

for modulus, (rope, clamp, grip, report) in zip(moduli, ropes, strict=True):
    weight = rope.mass * GRAVITY
    assert report.stable
    assert np.allclose(clamp.force + grip.force + weight, 0.0, atol=1e-7 * np.linalg.norm(weight))
    per_length = rope.mass / rope.length * np.linalg.norm(GRAVITY)
    print(
        f"E = {modulus:.0e} Pa: {report.iterations:2d} iterations, pull along x {grip.force[0]:.4f} N "
        f"(catenary {per_length * c:.4f} N), up {grip.force[2]:.4f} N"
    )

# %%
# The same with strands. What is left between the two is shear, which strands have and ropes don't: it falls as the
# material gets stiffer.

for modulus, (rope, clamp, grip, _) in zip(moduli, ropes, strict=True):
    strand = sn.Strand(length=rope.length, section=rope.section, material=rope.material, nodes=401)
    state = strand.solve(base=clamp.target, tip_position=(SPAN, 0, 0), gravity=GRAVITY)
    line = rope.centerline(len(state.s))
    apart = np.max(np.linalg.norm(line - state.positions, axis=1))
    pull = np.linalg.norm(grip.force - state.tip_force) / np.linalg.norm(state.tip_force)
    print(f"E = {modulus:.0e} Pa: rope and strand are {1e6 * apart:.1f} µm apart, grip forces differ by {pull:.1e}")
    assert state.stable
    assert apart < 5e-4 * rope.length * moduli[0] / modulus
    assert pull < 1e-3

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
x = np.linspace(0.0, SPAN, 200)
left.plot(x, catenary(x), color="black", linestyle=":", label="catenary")
for modulus, (rope, _, _, _), colour in zip(moduli, ropes, plt.cm.viridis(np.linspace(0.0, 0.85, 3)), strict=True):
    line = rope.centerline(400)
    left.plot(line[:, 0], line[:, 2], color=colour, label=f"E = {modulus:.0e} Pa")
    right.plot(np.linspace(0.0, rope.length, 400), rope.tensions(400), color=colour)
per_length = ropes[0][0].mass / ropes[0][0].length * np.linalg.norm(GRAVITY)
right.plot(np.linspace(0.0, LENGTH, 200), per_length * np.hypot(c, np.linspace(-0.5, 0.5, 200) * LENGTH), "k:")
left.set(xlabel="x (m)", ylabel="z (m)", aspect="equal", ylim=(-0.45, 0.3))
left.legend(loc="upper center", ncols=2)
right.set(xlabel="length along the rope (m)", ylabel="tension (N)")
for axes in (left, right):
    axes.grid(alpha=0.3)
plt.show()
