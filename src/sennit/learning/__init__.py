"""Environments for learning, in Gymnasium's terms: needs ``pip install 'sennit[learning]'``.

Importing it registers `ENVIRONMENTS`: ``gymnasium.make("sennit/RopeReach-v0")``, and
``gymnasium.make_vec("sennit/RopeReach-v0", num_envs=256, vectorization_mode="vector_entry_point")`` for a batch.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnasium

from sennit.learning.environment import Environment, VectorEnvironment
from sennit.learning.task import Task
from sennit.learning.tasks import CraneSwing, RopeOverPeg, RopeReach, TentacleReach

__all__ = [
    "ENVIRONMENTS", "CraneSwing", "Environment", "RopeOverPeg", "RopeReach", "Task", "TentacleReach",
    "VectorEnvironment",
]  # fmt: skip

ENVIRONMENTS: dict[str, Any] = {
    "sennit/RopeReach-v0": RopeReach,
    "sennit/RopeOverPeg-v0": RopeOverPeg,
    "sennit/CraneSwing-v0": CraneSwing,
    "sennit/TentacleReach-v0": TentacleReach,
}
"""Our environments, by the names under which Gymnasium knows them."""

for _name, _task in ENVIRONMENTS.items():
    if _name not in gymnasium.registry:
        gymnasium.register(
            _name, entry_point=partial(Environment, _task), vector_entry_point=partial(VectorEnvironment, _task)
        )
