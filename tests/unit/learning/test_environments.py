"""Our environments: Gymnasium's checker, resets as it has them, the same episodes one by one, solved by a script."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import sennit as sn
from sennit.learning import ENVIRONMENTS, CraneSwing, Environment, RopeReach, VectorEnvironment


def played(name, policy, count=16):
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
def test_a_seed_names_an_episode(name) -> None:
    """Another seed is another one, from what is seen first on; the same seed the same, to the last bit."""
    env = Environment(ENVIRONMENTS[name])
    actions = np.random.default_rng(2).uniform(-1, 1, (3, ENVIRONMENTS[name].ACTIONS))
    told = {}
    for seed in (0, 1, 2, 0, 1, 2):
        seen = [env.reset(seed=seed)[0], *(env.step(action)[0] for action in actions)]
        told.setdefault(seed, []).append(np.array(seen).tobytes())
        assert all(np.isfinite(one).all() for one in seen)
    assert all(one == again for one, again in told.values())
    assert len({one for one, _ in told.values()}) == 3
    first = {env.reset(seed=seed)[0].tobytes() for seed in range(8)}
    assert len(first) == 8


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


class VariedCrane(CraneSwing):
    """Load and rope differ from episode to episode: their mass, and how stiff it is."""

    def __init__(self, count, threads=None):
        super().__init__(count, threads)
        self.mass, self.modulus = np.full(count, 0.5), np.full(count, 1e7)

    def begin(self, rows, chances):
        super().begin(rows, chances)
        self.mass[rows] = [chance.uniform(0.25, 1.0) for chance in chances]
        self.modulus[rows] = [10 ** chance.uniform(6.5, 7.5) for chance in chances]
        self.batch.vary(self.load, "mass", self.mass)
        self.batch.vary(self.rope, "youngs_modulus", self.modulus)


def test_an_environment_whose_masses_and_stiffness_are_drawn() -> None:
    """Each episode is that of a scene that was made so, to the last bit; and the script still solves them."""
    count = 12
    env = VectorEnvironment(VariedCrane, count, threads=2, autoreset_mode="Disabled")
    seen, _ = env.reset(seed=5)
    task, fixed = env.task, VectorEnvironment(CraneSwing, count, threads=2, autoreset_mode="Disabled")
    fixed.reset(seed=5)
    assert len(set(task.mass.tolist())) == len(set(task.modulus.tolist())) == count
    for i in (0, count - 1):  # made so: in a batch of its own
        made = task.batch.scene(i)
        rope, load = made.bodies
        assert (load.mass, rope.material.youngs_modulus) == (task.mass[i], task.modulus[i])
    alone = Environment(VariedCrane)
    own, _ = alone.reset(seed=5 + 3)
    assert np.array_equal(seen[3], own)
    assert alone.task.mass[0] == task.mass[3]
    for time in range(CraneSwing.LENGTH):
        actions = CraneSwing.script(seen, time)
        own = alone.step(actions[3])[0]
        other = fixed.step(actions)[0]
        seen, _, terminated, _, infos = env.step(actions)
        assert np.array_equal(seen[3], own)
        assert not terminated.any()
    assert infos["is_success"].all()
    assert (np.abs(other - seen).max(axis=1) > 1e-6).all(), "what was drawn is felt"
    hanging = 0.16 - task.batch.positions(task.load)[:, 2]  # m: E A ΔL/L ≈ m g, the load below where it was made
    expected = (task.mass + 0.5 * task.rope.mass) * 9.81 * 0.8 / (task.modulus * task.rope.section.area)
    assert np.allclose(hanging, expected, rtol=0.1, atol=1e-4)
    mask = np.arange(count) == 2
    before = task.mass.copy()
    env.reset(options={"reset_mask": mask})
    assert ((task.mass != before) == mask).all()
    assert np.array_equal(task.batch.read(task.load, "mass"), task.mass)


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
