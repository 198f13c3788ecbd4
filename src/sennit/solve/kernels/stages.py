"""The five stages of a step of fourth order, and where Newton's method begins in each of them.

A symmetric scheme of second order over γh, γh, (1 − 4γ)h, γh, γh is of fourth order for 4γ³ + (1 − 4γ)³ = 0 (Suzuki,
Phys. Lett. A 146 (1990) 319). The third goes back in time.

A stage of `h` ends at x₊ = x̂ + h²a with half the mean acceleration a of its way, which belongs to the middle of the
stage. All five lie close together in time: from two of them the next one's is known nearly, by a straight line, and
Newton's first turn is then its last, more often than not. The first stage begins at free flight: nothing is carried
from one step to the next.
"""

from __future__ import annotations

from sennit.bodies.kernels import kinds
from sennit.compilation import merged

_GAMMA = 1.0 / (4.0 - 4.0 ** (1.0 / 3.0))
SUZUKI = (0.0, _GAMMA, 2.0 * _GAMMA, 1.0 - 2.0 * _GAMMA, 1.0 - _GAMMA, 1.0)
"""Shares of a step of fourth order at which its stages begin and end."""
STAGES = len(SUZUKI) - 1
MIDDLES = tuple(0.5 * (SUZUKI[i] + SUZUKI[i + 1]) for i in range(STAGES))
NEARER, FARTHER = (0, 0, 1, 2, 1), (0, 0, 0, 0, 3)
"""The stages, of those before it, from which the acceleration of each is found: with the next one's between them, or as
near as can be."""

SHARE = 0.1  # of the square of what forces move in a stage: below a step's own error, which falls with its fifth power


@merged
def begin_stage(stage, scene):
    """Set the numbers of one of the five steps of "midpoint" that make one of fourth order."""
    step, scheme = scene.step, scene.scheme
    before, after = SUZUKI[stage], SUZUKI[stage + 1]
    h = (after - before) * step.total[0]
    scene.settings.stage[0] = stage
    step.share_before[0], step.share_after[0] = before, after
    step.step[0] = step.advance[0] = scheme.reach[0] = h
    scheme.beta[0], step.mass_weight[0] = 2.0 / h, 2.0 / (h * h)
    step.drag_weight[0], step.strain_rate[0] = step.drag[0] / h, 1.0 / h


@merged
def leads_ahead(scene):
    """Whether the iterate of this stage begins where the stages before it lead, and not at free flight.

    Masses that slide are led by the solve alone.
    """
    return scene.settings.stage[0] > 0 and scene.sliders.dof.size == 0


@merged
def lead_ahead(scene):
    """Move the iterate from free flight to where the accelerations of the stages before it lead."""
    trial, stage, h = scene.trial, scene.settings.stage[0], scene.step.step[0]
    i, j = NEARER[stage], FARTHER[stage]
    share = 0.0
    if i != j:
        share = (MIDDLES[stage] - MIDDLES[i]) / (MIDDLES[j] - MIDDLES[i])
    for k in range(trial.dq.size):
        a, b = trial.pulled[k, i], trial.pulled[k, j]
        trial.dq[k] = h * h * (a + share * (b - a))
    kinds.update_tensions(scene)
    kinds.move(scene)


@merged
def note_stage(scene):
    """Keep what the forces have done in this stage, for those that follow it."""
    trial, rigids, stage, h = scene.trial, scene.rigids, scene.settings.stage[0], scene.step.step[0]
    scale = 1.0 / (h * h)
    for k in range(trial.q.size):
        trial.pulled[k, stage] = scale * (trial.q[k] - trial.q_base[k])
    for body in range(rigids.dof.size):
        for k in range(3):
            trial.pulled[rigids.dof[body] + 3 + k, stage] = scale * rigids.turned[body, k]


@merged
def is_near(size, scene):
    """Whether the next of Newton's turns, after one of `size` (over the scene's size), would move next to nothing.

    Turns shrink by about the ratio of those before. From free flight, the first turn of a step moves by δ, which is of
    second order in its time.
    """
    trial = scene.trial
    left = min(scene.step.left[0], SHARE * trial.drawn[0] * trial.drawn[0])
    return 0.0 < size * trial.shrinks[0] < left
