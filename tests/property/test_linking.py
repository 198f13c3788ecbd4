"""What goes through each other stays so: the Gauss linking number of closed rods, whatever hands do to them.

Hands (`references.linked_rings`) are firm and springy, fly at 1 to 30 m/s, turn about or go on without end, in steps of
1/60 to 1/1000 s. Four of the first fourteen scenes came apart within twelve steps when only where steps end was looked
at. Where contact and a hand contradict each other the hand gives way, or the scene stands still, and an event says so.
``--thorough 20`` makes 10⁴ steps of three scenes; ``python -m references.linked_rings FIRST LAST STEPS`` in the folder
`tests` makes so many of the scenes from one seed to another.
"""

from __future__ import annotations

import pytest
import records
from references.linked_rings import LinkedRings

STEPS = 12 * records.thorough() if records.thorough() < 20 else 10_000
"""Of each scene."""
SEEDS = range(14 * min(records.thorough(), 4)) if records.thorough() < 20 else (2, 3, 4)
"""In long runs those whose hands turn about: what is drawn out without end stands still before long."""
EVERY = 4
"""Steps after which the linking number is looked at: in between nothing can pass through to and fro."""


@pytest.mark.parametrize("seed", SEEDS)
def test_linked_rings_stay_linked(tried, seed: int) -> None:
    """Two closed rods through each other cannot be torn apart, nor entangled any further."""
    tried.count("closed rods through each other, pulled by random hands")
    rings = LinkedRings(seed)
    assert abs(abs(rings.linked) - 1.0) < 1e-6
    for step in range(STEPS):
        rings.step()
        if step % EVERY == EVERY - 1 or step == STEPS - 1:
            linked = rings.linking_number
            where = f"seed {seed}, dt {rings.dt:.3g}, {rings.scene.integrator}, step {step}"
            assert abs(linked - rings.linked) < 1e-3, (
                f"{where}: linking number {linked:.3g} instead of {rings.linked:.3g}"
            )
