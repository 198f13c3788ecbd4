"""Strains and tensions of rods between one solve and the next: the same for both models."""

from __future__ import annotations

from sennit.compilation import kernel


@kernel
def extrapolate_strains(rod, kind, memory):
    """Trial tensions are those of the state; trial strains too, a part `memory` beyond them on the way from the last.

    That is 0 but in a two-step scheme, whose strain rates are taken by the same formula as its velocities.
    """
    rods = kind.rods
    now, last, trial = kind.bend, kind.bend_last, kind.bend_trial
    for row in range(rods.bend_first[rod], rods.bend_end[rod]):
        for k in range(3):
            trial.strain[row, k] = (1.0 + memory) * now.strain[row, k] - memory * last.strain[row, k]
    pull, pull_last, pull_trial = kind.stretch, kind.stretch_last, kind.stretch_trial
    for row in range(rods.stretch_first[rod], rods.stretch_end[rod]):
        pull_trial.tension[row] = pull.tension[row]
        pull_trial.strain[row] = (1.0 + memory) * pull.strain[row] - memory * pull_last.strain[row]


@kernel
def hold_strains(kind):
    """Trial tensions and strains are those of the state."""
    for row in range(kind.bend.strain.shape[0]):
        for k in range(3):
            kind.bend_trial.strain[row, k] = kind.bend.strain[row, k]
    for row in range(kind.stretch.strain.size):
        kind.stretch_trial.tension[row] = kind.stretch.tension[row]
        kind.stretch_trial.strain[row] = kind.stretch.strain[row]


@kernel
def keep_strains(kind):
    """The strains of the state become the last ones, the trial tensions those of the state."""
    for row in range(kind.bend.strain.shape[0]):
        for k in range(3):
            kind.bend_last.strain[row, k] = kind.bend.strain[row, k]
    for row in range(kind.stretch.strain.size):
        kind.stretch_last.strain[row] = kind.stretch.strain[row]
        kind.stretch.tension[row] = kind.stretch_trial.tension[row]


@kernel
def place_tensions(kind, fraction):
    """Tensions at a fraction of the way from the state to the trial, into `stretch_way`.

    The geometric stiffness of the mean force wants them there, not at the end.
    """
    now, trial, way = kind.stretch, kind.stretch_trial, kind.stretch_way
    for row in range(now.tension.size):
        way.tension[row] = trial.tension[row] + (fraction - 1.0) * (trial.tension[row] - now.tension[row])
        way.strain[row] = trial.strain[row]
