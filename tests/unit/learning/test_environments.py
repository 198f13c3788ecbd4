"""Our environments: Gymnasium's checker, resets as it has them, the same episodes one by one, solved by a script."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import sennit as sn
from sennit.learning import ENVIRONMENTS, Environment, RopeReach, VectorEnvironment


def played(name, policy, count=3):
    """Share of episodes that end at their aim, and mean return."""
    task = ENVIRONMENTS[name]
    env = gymnasium.make_vec(name, num_envs=count, vectorization_mode="vector_entry_point", threads=2)
    chance = np.random.default_rng(1)
    seen, _ = env.reset(seed=0)
    total = 0.0
    for time in range(task.LENGTH):
        actions = task.script(seen, time) if policy == "script" else chance.uniform(-1, 1, (count, task.ACTIONS))
        seen, reward, terminated, truncated, infos = env.step(actions)
        total += float(reward.mean())
        assert not terminated.any()
        assert truncated.all() == (time == task.LENGTH - 1)
    return float(infos["is_success"].mean()), total


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_a_script_solves_it_and_chance_does_not(name) -> None:
    solved, good = played(name, "script")
    lost, bad = played(name, "chance")
    assert (solved, lost) == (1.0, 0.0)
    assert good > 0.5 * bad  # both are negative


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_gymnasium_has_nothing_to_object_to(name) -> None:
    env = gymnasium.make(name)
    assert isinstance(env.unwrapped, Environment)
    check_env(env.unwrapped, skip_render_check=True)


class Short(RopeReach):
    """A few actions an episode."""

    LENGTH = 4


def test_one_by_one_and_together_are_the_same_episodes() -> None:
    """Scene i of many, seeded by s, is the environment that is seeded by s + i."""
    many = VectorEnvironment(Short, 3, threads=2, autoreset_mode="Disabled")
    ones = [Environment(Short) for _ in range(3)]
    seen, _ = many.reset(seed=7)
    alone = [env.reset(seed=7 + i)[0] for i, env in enumerate(ones)]
    assert np.array_equal(seen, alone)
    for actions in np.random.default_rng(0).uniform(-1, 1, (4, 3, 3)):
        seen, reward, _, truncated, _ = many.step(actions)
        for i, env in enumerate(ones):
            own, own_reward, _, own_truncated, _ = env.step(actions[i])
            assert np.array_equal(seen[i], own)
            assert (reward[i], truncated[i]) == (own_reward, own_truncated)


def ended(mode):
    """An environment after the last action of its first episode: it, and what that call returned."""
    env = VectorEnvironment(Short, 2, threads=1, autoreset_mode=mode)
    first, _ = env.reset(seed=3)
    for _ in range(3):
        env.step(np.ones((2, 3)))
    return env, first, env.step(np.ones((2, 3)))


def test_the_next_step_begins_the_next_episode() -> None:
    env, first, (seen, reward, _, truncated, _) = ended(AutoresetMode.NEXT_STEP)
    assert truncated.all()
    assert (reward < 0).all()
    assert not np.array_equal(seen, first)
    seen, reward, _, truncated, _ = env.step(np.ones((2, 3)))
    assert not truncated.any()
    assert not reward.any()
    assert np.array_equal(seen[:, 3:], first[:, 3:]), "the rope hangs as it did; the marks are others"
    assert not np.array_equal(seen[:, :3], first[:, :3])
    for k in range(4):
        truncated = env.step(np.ones((2, 3)))[3]
        assert truncated.all() == (k == 3)


def test_the_same_step_begins_the_next_episode() -> None:
    _, _, last = ended(AutoresetMode.NEXT_STEP)
    env, first, (seen, reward, _, truncated, infos) = ended(AutoresetMode.SAME_STEP)
    assert truncated.all()
    assert np.array_equal(reward, last[1])
    assert np.array_equal(np.stack(infos["final_obs"]), last[0])
    assert infos["_final_obs"].all()
    assert np.array_equal(seen[:, 3:], first[:, 3:])
    for k in range(4):
        truncated = env.step(np.ones((2, 3)))[3]
        assert truncated.all() == (k == 3)


def test_some_begin_again_when_asked() -> None:
    env, first, (seen, *_) = ended(AutoresetMode.DISABLED)
    after, _ = env.reset(options={"reset_mask": np.array((False, True))})
    assert np.array_equal(after[0], seen[0])
    assert np.array_equal(after[1, 3:], first[1, 3:])
    with pytest.raises(sn.InputError, match="reset_mask must"):
        env.reset(options={"reset_mask": [True]})


def test_reset_comes_first() -> None:
    with pytest.raises(gymnasium.error.ResetNeeded):
        VectorEnvironment(Short, 2).step(np.zeros((2, 3)))
