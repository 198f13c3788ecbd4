"""
A finger of three zones
=======================

Linear elasticity knows small rotations only. A ``sennit.ZoneChain`` gets round that: each zone is linear in a frame of
its own, and the frames turn as far as they like. Here the flesh of a finger is three zones on three bones, joined at
seams through the joints.
"""

import matplotlib.pyplot as plt
import numpy as np

import sennit as sn
from sennit.demos.finger_mesh import finger

# %%
# The meshes are those of ``sennit demo finger``, coarser. Each pad is in the frame of its bone, and its vertices on the
# bone are fixed. ``rest_poses`` are those at which the undeformed pads meet: a finger at rest is a little bent.

shape = finger(around=16)
flesh = sn.Material(youngs_modulus=5e4, poisson_ratio=0.45, density=1000)
zones = [sn.Zone.from_mesh(p.vertices, p.faces, material=flesh, fixed=p.fixed, name=p.name) for p in shape.pads]
chain = sn.ZoneChain(zones, shape.seams, rest_poses=shape.rest_poses())
print([len(zone.vertices) for zone in zones], "vertices;", [seam.nodes for seam in chain.seams], "nodes on the seams")
print(f"seams act on each other by {chain.coupling:.1e}")

# %%
# Both joints are bent from straight to 50°. In the frame of each pad the flesh is displaced by what the seams ask for;
# across a seam both sides are at the same places, and pull on each other with opposite forces.

ANGLES = np.radians((0.0, 25.0, 50.0))
states = [chain.solve(shape.poses((angle, 0.7 * angle))) for angle in ANGLES]
for angle, state in zip(ANGLES, states, strict=True):
    places = state.positions()
    for (one, other), a, b in zip(shape.seams, places[:-1], places[1:], strict=True):
        assert np.abs(a[one] - b[other]).max() < 1e-12
    pull = max(np.linalg.norm(forces.sum(axis=0)) for forces in state.seam_forces)
    print(
        f"bent by {np.degrees(angle):2.0f}°: energy {1e3 * state.energy:6.3f} mJ, seams pull with up to {pull:5.3f} N, "
        f"{state.report.method}, residual {state.report.residual:.0e}"
    )

# %%
# Pressing the tip against a plate. The contact has the compliance of the whole chain; the plate is in the world.

poses = shape.poses((ANGLES[1], 0.7 * ANGLES[1]))
lowest = min(places[:, 2].min() for places in states[1].positions())
print(" depth   force  vertices")
for depth in (2e-4, 5e-4, 1e-3):
    state = chain.press(sn.Plane((0, 0, lowest + depth), (0, 0, 1)), poses=poses, friction=0.6)
    touched = sum(len(vertices) for vertices in state.patch.values())
    print(f"{1e3 * depth:4.1f} mm  {state.force[2]:5.3f} N  {touched:4d}")
    assert state.contact_report.converged and state.force[2] > 0

# %%
# Two approximations are there for comparison, and tell their errors: seams placed half way between the two bones
# (*kinematic*, as skins of animated figures are), and seams that do not feel each other (*block diagonal*).

exact = chain.solve(poses, method="direct")
for method in ("sweeps", "block_diagonal", "kinematic"):
    other = chain.solve(poses, method=method)
    error = max(np.abs(a - b).max() for a, b in zip(exact.positions(), other.positions(), strict=True))
    error /= max(np.abs(u).max() for u in exact.displacements)
    print(
        f"{method:15s} is off by {error:.1e} of the largest displacement; estimated {other.report.error_estimate:.1e}"
    )

# %%
# The skin, coloured by how far it is displaced from where its bone would carry it.


def draw(axes, state, highest):
    """The skins of all pads."""
    for pad, places, u in zip(shape.pads, state.positions(), state.displacements, strict=True):
        skin = pad.faces[pad.skin]
        surface = axes.plot_trisurf(*(1e3 * places).T, triangles=skin, linewidth=0.1, edgecolor="0.4")
        surface.set_array(1e3 * np.linalg.norm(u, axis=1)[skin].mean(axis=1))
        surface.set(clim=(0, highest), cmap="viridis")
    axes.set(xlim=(-5, 95), ylim=(-15, 15), zlim=(-60, 20))
    axes.set_box_aspect((100, 30, 80), zoom=1.3)
    axes.set_axis_off()
    axes.view_init(12, -76)
    return surface


figure, panels = plt.subplots(1, 3, figsize=(11, 4), layout="constrained", subplot_kw={"projection": "3d"})
highest = 1e3 * max(np.linalg.norm(u, axis=1).max() for u in states[-1].displacements)
for axes, angle, state in zip(panels, ANGLES, states, strict=True):
    surface = draw(axes, state, highest)
    axes.set_title(f"{np.degrees(angle):.0f}° and {0.7 * np.degrees(angle):.0f}°")
figure.colorbar(surface, ax=panels, label="displacement (mm)", shrink=0.7)
plt.show()
