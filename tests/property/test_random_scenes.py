"""Random scenes of all bodies and constraints, run and edited: what no scene may do, whatever is done to it.

A failure prints the shortest program that still fails, to be pasted.
"""

from __future__ import annotations

import re

import records
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from references import random_scenes
from references.scene_runner import (
    Broken, attempt, bits, counterparts, is_step, read, run, run_line,
)  # fmt: skip

import sennit as sn

SEEDS = st.integers(0, 2**32 - 1)
MOST_TURNS = 30
"""Newton iterations that a step may take: those of the two-stage fallback."""


def tries(count: int):
    # A failing program is cut down by `attempt`, line by line: seeds cannot be shrunk.
    return settings(
        max_examples=count * records.thorough(),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate],
    )


@tries(45)
@given(SEEDS)
def test_whatever_is_done_to_a_scene(tried, seed: int) -> None:
    """All that can be read is finite; only the two errors are raised; what is refused has changed nothing; no step
    takes more turns than it may; and a scene that has refused a step goes on."""
    tried.count("random scenes, all bodies and constraints, edited while they run")

    def bounded(scene: sn.Scene, line: str) -> None:
        if is_step(line) and scene.report.iterations > MOST_TURNS:
            raise Broken(f"{line} took {scene.report.iterations} iterations")

    attempt(random_scenes.wild(seed), lambda lines: run(lines, watch=bounded))


def _continue(names: dict, lines: list[str]) -> list:
    ends = []
    for line in lines:
        run_line(line, names)
        if is_step(line):
            ends.append(bits(names["scene"]))
    return ends


@tries(30)
@given(SEEDS, st.floats(0.0, 1.0))
def test_snapshots_and_files_continue_bitwise(tried, tmp_path_factory, seed: int, part: float) -> None:
    """From a random line on: straight on, from a snapshot, and from a file, with the same edits; compared step by step.

    Reading everything at that line changes nothing either.
    """
    tried.count("random scenes stopped, saved, loaded and continued")
    path = tmp_path_factory.mktemp("scene") / "scene.npz"

    def trial(lines: list[str]) -> None:
        middle = 1 + int(part * (len(lines) - 1))
        names = run(lines[:middle], careful=False)
        scene = names["scene"]
        # What a file cannot hold: paths that are functions, snapshots, and where a scene first began.
        for follow in [c for c in scene.constraints if isinstance(c, sn.Follow)]:
            scene.remove(follow)
        rest = [line for line in lines[middle:] if not re.search(r"snap\d|scene\.reset|sn\.Follow|follow\d", line)]
        here = scene.snapshot()
        scene.save(path)
        there = counterparts(names, sn.Scene.load(path))
        before = bits(scene)
        if bits(there["scene"]) != before:
            raise Broken("a scene that was loaded differs from what was saved")
        read(scene)
        if bits(scene) != before:
            raise Broken("reading has changed the scene")
        made = set(names)
        straight_on = _continue(names, rest)
        for name in set(names) - made:
            del names[name]
        scene.restore(here)
        if bits(scene) != before:
            raise Broken("a scene that was restored differs from its snapshot")
        if _continue(names, rest) != straight_on:
            raise Broken("a scene that was restored goes on differently")
        if _continue(there, rest) != straight_on:
            raise Broken("a scene that was loaded goes on differently")

    attempt(random_scenes.wild(seed, steps=12), trial)


@tries(12)
@given(SEEDS)
def test_the_same_program_gives_the_same_bits(tried, seed: int) -> None:
    tried.count("random scenes run twice")

    def trial(lines: list[str]) -> None:
        ends = [bits(run(lines, careful=False)["scene"]) for _ in range(2)]
        if ends[0] != ends[1]:
            raise Broken("the second run differs")

    attempt(random_scenes.wild(seed, steps=12), trial)
