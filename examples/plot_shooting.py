"""
Where shooting fails
====================

Pai's paper finds the strand between two poses by *single shooting*: guess the wrench at the base, integrate to the
tip, correct the guess by what was missed. sennit keeps that method, with an analytic Jacobian, as
``method="shooting"``. Here both methods get the same tasks, cold: tip poses that random wrenches reach, and a limp
thread under its own weight.
"""

import matplotlib.pyplot as plt
import numpy as np

import sennit as sn

# %%
# Between two poses
# -----------------
# A follower wrench on the tip gives a reachable pose in two sweeps. Both methods then solve back from the pose alone.

nylon = sn.Material(youngs_modulus=2.7e9, poisson_ratio=0.39, density=1150)
suture = sn.Strand(length=0.25, section=sn.Section.circle(radius=2e-4), material=nylon, nodes=101)
bending = float(suture.stiffness[0, 0])
force_unit, torque_unit = bending / suture.length**2, bending / suture.length

random = np.random.default_rng(3)
sizes = np.array([0.3, 1.0, 2.0, 4.0, 7.0, 10.0])
found = {"energy method": [], "single shooting": []}
for size in sizes:
    solved = dict.fromkeys(found, 0)
    for _ in range(20):
        force, torque = random.normal(size=(2, 3))
        force *= size * force_unit / np.linalg.norm(force)
        torque *= 0.5 * size * torque_unit / np.linalg.norm(torque)
        goal = suture.solve(base=sn.Pose(), tip_force=force, tip_torque=torque, follower=True).tip_pose
        for name, method in (("energy method", None), ("single shooting", "shooting")):
            state = suture.solve(base=sn.Pose(), tip=goal, method=method, throw=False)
            solved[name] += state.report.converged
    for name, count in solved.items():
        found[name].append(5 * count)

assert min(found["energy method"]) == 100
assert min(found["single shooting"]) < 100

# %%
# A thread under its own weight
# -----------------------------
# What a small error at one end does at the other grows by :math:`e^{\frac23\sqrt{\gamma}}` with
# :math:`\gamma = w L^3/EI`. The thread leaves its clamp slightly upwards. A large distance between the two answers
# means that shooting has ended in a curl that no thread would keep, or nowhere.

weights = np.array([1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0])
thread = sn.Strand(length=1.0, stiffness=np.diag([1.0, 1.0, 0.77, 1e3, 1e3, 1e3]), nodes=201)
clamp = sn.Pose.along((0, 0, 0), (1.0, 0.0, 0.2))
apart = []
for weight in weights:
    hanging = thread.solve(base=clamp, force=(0, 0, -weight))
    shot = thread.solve(base=clamp, force=(0, 0, -weight), method="shooting", throw=False)
    apart.append(float(np.linalg.norm(hanging.tip_pose.position - shot.tip_pose.position)))
    assert hanging.stable

assert apart[0] < 1e-7
assert apart[-1] > 0.1

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for name, colour, mark in (("energy method", "#0072B2", "o"), ("single shooting", "#D55E00", "s")):
    left.plot(sizes, found[name], color=colour, marker=mark, label=name)
left.set(xlabel="wrench that bent the strand, EI/L²", ylabel="poses solved from cold, %", ylim=(-4, 104))
left.legend()
right.loglog(weights, np.maximum(apart, 1e-12), color="#D55E00", marker="s")
right.set(xlabel="wL³/EI", ylabel="tip of shooting from the true tip, L")
for axes in (left, right):
    axes.grid(alpha=0.3)
plt.show()
