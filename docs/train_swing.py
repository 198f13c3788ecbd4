"""Teaches ``sennit/CraneSwing-v0`` with PPO of stable-baselines3 on a processor, in minutes, and draws the curve:

pip install 'sennit[learning,docs]' stable-baselines3
python docs/train_swing.py [actions] [number of trainings]
"""

import sys
import time
from pathlib import Path

import gymnasium
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv

from sennit.learning import CraneSwing

SCALE = np.array((0.5, 0.2, 0.5))  # m, m, m/s: what is seen, over its usual size
IMAGE = Path(__file__).parent / "images" / "howto" / "learning_curve.png"


def swings(count):
    """Many cranes, in Gymnasium's terms: the call that ends an episode begins the next one."""
    return gymnasium.make_vec(
        "sennit/CraneSwing-v0", num_envs=count, vectorization_mode="vector_entry_point", autoreset_mode="SameStep"
    ).unwrapped


class Swings(VecEnv):
    """The same in the terms of stable-baselines3."""

    def __init__(self, count):
        self.envs = swings(count)
        seen = gymnasium.spaces.Box(-np.inf, np.inf, SCALE.shape, np.float32)
        super().__init__(count, seen, self.envs.single_action_space)
        self.actions = None

    def reset(self):
        """Begin all episodes; seeded, if `seed` was called."""
        seeds = [None if s is None else int(s) for s in self._seeds]
        seen, _ = self.envs.reset(seed=seeds)
        self._reset_seeds()
        return np.float32(seen / SCALE)

    def step_async(self, actions):
        """Remember the actions."""
        self.actions = actions

    def step_wait(self):
        """Make them."""
        seen, reward, failed, cut, infos = self.envs.step(self.actions)
        told = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(failed | cut):
            told[i] = {
                "terminal_observation": np.float32(infos["final_obs"][i] / SCALE),
                "TimeLimit.truncated": bool(cut[i] and not failed[i]),
            }
        return np.float32(seen / SCALE), np.float32(reward), failed | cut, told

    def close(self):
        """There is nothing to close."""

    def get_attr(self, name, indices=None):
        """An attribute of the environments, for each."""
        return [getattr(self.envs, name)] * len(list(self._get_indices(indices)))

    def set_attr(self, name, value, indices=None):
        """Environments of one batch have no attributes of their own."""
        raise NotImplementedError

    def env_method(self, name, *given, indices=None, **named):
        """Nor methods."""
        raise NotImplementedError

    def env_is_wrapped(self, wrapper, indices=None):
        """They are not."""
        return [False] * len(list(self._get_indices(indices)))


def judged(policy, count=64):
    """Mean return, and share of episodes that end at their aim, of a policy on episodes that no training sees."""
    envs = swings(count)
    seen, _ = envs.reset(seed=1_000_000)
    total = np.zeros(count)
    for now in range(CraneSwing.LENGTH):
        seen, reward, _, _, infos = envs.step(policy(seen, now))
        total += reward
    return float(total.mean()), float(np.mean([told["is_success"] for told in infos["final_info"]]))


class Curve(BaseCallback):
    """Judges what was learned, every few rounds."""

    def __init__(self, every):
        super().__init__()
        self.every, self.points, self.begun = every, [], time.perf_counter()

    def _on_rollout_start(self):
        if self.num_timesteps >= self.every * len(self.points):
            found = judged(lambda seen, now: self.model.predict(np.float32(seen / SCALE), deterministic=True)[0])
            self.points.append((self.num_timesteps, *found, time.perf_counter() - self.begun))
            actions, total, solved, seconds = self.points[-1]
            print(
                f"{actions:8d} actions: return {total:7.2f}, {100 * solved:3.0f} % solved, {seconds:4.0f} s", flush=True
            )

    def _on_step(self):
        return True


def draw(curves, script, chance):
    """The curves, beside the scripted policy and a random one."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, both = plt.subplots(1, 2, figsize=(9, 3.2), dpi=100, layout="constrained")
    for k, (axes, scale) in enumerate(zip(both, (1, 100), strict=True)):
        for number, points in enumerate(curves):
            told = np.array(points)
            label = "learned, from three seeds" if number == 0 else None
            axes.plot(told[:, 0] / 1e3, scale * told[:, 1 + k], color="#1f6f8b", alpha=0.8, label=label)
        axes.axhline(scale * script[k], color="#2a2a2a", ls="--", lw=1, label="scripted")
        axes.axhline(scale * chance[k], color="#b5651d", ls=":", lw=1.4, label="random")
        axes.set_xlabel("actions, thousands")
        axes.grid(alpha=0.25)
    both[0].set_title("return of an episode, m", fontsize=10)
    both[1].set_title("episodes that end at their aim, %", fontsize=10)
    both[0].legend(frameon=False, loc="lower right")
    figure.savefig(IMAGE)


def learned(actions, seed):
    """What was found of a policy while it was learned."""
    model = PPO(
        "MlpPolicy", Swings(64), n_steps=50, batch_size=640, n_epochs=8, learning_rate=1e-3, gamma=0.97,
        policy_kwargs={"net_arch": [32, 32], "log_std_init": -0.7}, seed=seed, device="cpu",
    )  # fmt: skip
    curve = Curve(every=16_000)
    model.learn(actions, callback=curve)
    curve._on_rollout_start()
    return curve.points


def main(actions=160_000, trainings=3):
    """Train, judge, draw."""
    torch.set_num_threads(1)
    chance = np.random.default_rng(0)
    script = judged(CraneSwing.script)
    blind = judged(lambda seen, now: chance.uniform(-1, 1, (len(seen), 1)))
    print(f"scripted: {script}, random: {blind}")
    draw([learned(actions, seed) for seed in range(trainings)], script, blind)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
