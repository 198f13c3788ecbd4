"""Tasks as Gymnasium knows them: many at once, and one."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from sennit.batch.running import FAILED
from sennit.errors import InputError
from sennit.learning.task import MOST, Task
from sennit.validation import quoted

__all__ = ["Environment", "VectorEnvironment"]


def _spaces(task: type[Task]) -> tuple[gymnasium.spaces.Box, gymnasium.spaces.Box]:
    seen = gymnasium.spaces.Box(-MOST, MOST, (task.OBSERVATIONS,), np.float64)
    return seen, gymnasium.spaces.Box(-1.0, 1.0, (task.ACTIONS,), np.float32)


class VectorEnvironment(VectorEnv):
    """`num_envs` episodes of a `task` at once, in one `Batch`.

    `autoreset_mode`: ``NEXT_STEP``: the call after the last one of an episode begins the next, its action is not looked
    at, its reward is 0; ``SAME_STEP``: the last call already returns what is first seen of the next episode, and
    ``infos["final_obs"]`` what was last seen of this one; ``DISABLED``: call ``reset(options={"reset_mask": mask})``.

    Scene i draws from a generator of its own, seeded by ``seed + i``: it goes as `Environment` does with that seed.
    """

    def __init__(
        self, task: type[Task], num_envs: int = 1, *, autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: int | None = None, render_mode: None = None,
    ) -> None:  # fmt: skip
        self.num_envs = int(num_envs)
        self._mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self._mode}
        self.render_mode = render_mode
        self.single_observation_space, self.single_action_space = _spaces(task)
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, self.num_envs)
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, self.num_envs)
        self.task = task(self.num_envs, threads)
        """The task, with its batch: to look at, to vary."""
        self._made = np.zeros(self.num_envs, np.int64)
        self._over = np.zeros(self.num_envs, bool)
        self._chances: list[np.random.Generator] = []

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin all episodes, or those that ``options["reset_mask"]`` (num_envs,) chooses."""
        mask = np.ones(self.num_envs, bool) if options is None or "reset_mask" not in options else options["reset_mask"]
        if not isinstance(mask, np.ndarray) or mask.dtype != bool or mask.shape != (self.num_envs,):
            raise InputError(f"reset_mask must be an array of booleans ({self.num_envs},), got {quoted(mask)}")
        rows = np.flatnonzero(mask)
        seeds = seed if isinstance(seed, list) else [None if seed is None else seed + i for i in range(self.num_envs)]
        if not self._chances:
            self._chances = [np.random.default_rng(s) for s in seeds]
        else:
            for i in rows:
                if seeds[i] is not None:
                    self._chances[i] = np.random.default_rng(seeds[i])
        self._begin(rows)
        return self.task.seen(), {}

    def _begin(self, rows: NDArray[np.int64]) -> None:
        self.task.batch.reset(rows)
        self.task.begin(rows, [self._chances[i] for i in rows])
        self._made[rows], self._over[rows] = 0, False

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Make one action of every episode."""
        if not self._chances:
            raise gymnasium.error.ResetNeeded("call reset before the first step")
        again = np.flatnonzero(self._over) if self._mode == AutoresetMode.NEXT_STEP else np.zeros(0, np.int64)
        self.task.advance(actions)
        self._made += 1
        if len(again):
            self._begin(again)
        seen = self.task.seen()
        reward, reached = self.task.judge()
        reward = np.where(np.isin(np.arange(self.num_envs), again), 0.0, reward)
        failed = self.task.batch.status == FAILED
        truncated = (self._made >= self.task.LENGTH) & ~failed
        self._over = truncated | failed
        infos: dict[str, Any] = {"is_success": reached, "_is_success": np.ones(self.num_envs, bool)}
        if self._mode == AutoresetMode.SAME_STEP and self._over.any():
            over = self._over.copy()
            rows = np.flatnonzero(over)
            last = np.full(self.num_envs, None, dtype=object)
            told = np.full(self.num_envs, None, dtype=object)
            for i in rows:
                last[i], told[i] = seen[i].copy(), {"is_success": bool(reached[i])}
            infos |= {"final_obs": last, "_final_obs": over, "final_info": told, "_final_info": over}
            self._begin(rows)
            seen = np.where(over[:, None], self.task.seen(), seen)
        return seen, reward, failed, truncated, infos


class Environment(gymnasium.Env):
    """One episode of a `task` at a time."""

    metadata = {"render_modes": []}

    def __init__(self, task: type[Task], *, render_mode: None = None) -> None:
        self.observation_space, self.action_space = _spaces(task)
        self.render_mode = render_mode
        self.task = task(1, 1)
        """The task, with its batch of one scene."""
        self._made = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; there are no `options`."""
        super().reset(seed=seed)
        if seed is not None:
            self._chance = np.random.default_rng(seed)
        elif not hasattr(self, "_chance"):
            self._chance = np.random.default_rng()
        self.task.batch.reset()
        self.task.begin(np.zeros(1, np.int64), [self._chance])
        self._made = 0
        return self.task.seen()[0], {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Make one action."""
        self.task.advance(np.asarray(action)[None])
        self._made += 1
        reward, reached = self.task.judge()
        failed = bool(self.task.batch.status[0] == FAILED)
        over = self._made >= self.task.LENGTH and not failed
        return self.task.seen()[0], float(reward[0]), failed, over, {"is_success": bool(reached[0])}
