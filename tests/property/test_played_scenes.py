"""Scenes as users play with them (`references.played_scenes`): none breaks, and what can't be done is told.

The bound of 1 in 1,000 broken is for thousands of seeds (``--thorough``, and docs/robustness.md has the figures); of
the few that the suite plays none may break.
"""

from __future__ import annotations

import pytest
import records
from references.played_scenes import FAMILIES, play
from references.touching_families import TOUCHING

SEEDS = range(14 * records.thorough())
TOUCHING_SEEDS = range(8 * records.thorough())
STEPS = 100 if records.thorough() == 1 else 250


@pytest.mark.parametrize("family", FAMILIES)
def test_played_scenes(tried, family: str) -> None:
    """Nothing explodes or tears, momentum of what nothing holds is kept, and no energy comes from nothing."""
    broken, still = [], 0
    seeds = TOUCHING_SEEDS if family in TOUCHING else SEEDS
    for seed in seeds:
        tried.count("scenes as users play with them")
        outcome = play(family, seed, steps=STEPS)
        where = f"{family} {seed}, dt {outcome.dt:.4g}, {outcome.scheme}, {outcome.told}"
        assert not outcome.silent, f"{where}: {outcome.broken}, and no event says so"
        assert outcome.momentum < 1e-9, f"{where}: momentum off by {outcome.momentum:.1e}"
        if outcome.scheme not in ("midpoint", "fourth"):
            # groups that press on each other are not corrected as one (docs/limits.md)
            assert outcome.spin < (0.01 if family in TOUCHING else 1e-9), (
                f"{where}: angular momentum off by {outcome.spin:.1e}"
            )
        if outcome.passive:
            # the tension of a cable that swings faster than the step does not fit its elongation
            assert outcome.gain < (0.07 if "cable" in family else 0.01), (
                f"{where}: {outcome.gain:.3g} of the energy turned over came from nothing"
            )
        if outcome.broken:
            broken.append(f"{where}: {outcome.broken}")
        still += outcome.held > 0.1
    assert len(broken) <= len(seeds) / 1000, broken
    assert still <= max(0.02 * len(seeds), 1), (
        f"{still} of {len(seeds)} stood still for more than a tenth of their time"
    )
