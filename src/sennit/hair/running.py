"""What makes the steps of hair: the processor, four rods at once in each of its threads, or a graphics card.

What a card makes is compared with what the processor does (`card_trial`), now and then.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from sennit import gpu_driver, gpu_program
from sennit.batch.card import loaded
from sennit.bodies.rod.table import RodTables
from sennit.card_trial import COPIES, Trials, blurred
from sennit.compile_once import compile_once
from sennit.geometry.pose import Pose
from sennit.geometry.rotations import quaternion_product, quaternion_to_matrix
from sennit.hair.head import DistanceGrid, HeadPart, shape_rows
from sennit.hair.kernels.entries import step_each, step_fours, step_some
from sennit.hair.kernels.steps import PARTS
from sennit.hair.kernels.strand import FRAME, PULL
from sennit.hair.memory import block_elsewhere, halve, halved, host_program
from sennit.hair.tables import FourHair, OneHair, common_sizes, fill_common, size_of
from sennit.lanes import WIDTH
from sennit.validation import FloatArray

__all__ = ["MOST_STEPS", "OnCard", "OnProcessor", "OneByOne", "Runner", "poses_between"]

MOST_STEPS = 64
"""Steps of one call of compiled code."""
BLOCK = 64
"""Threads of a block of a graphics card."""
_TRIED = 8
"""Rods whose step is compared with that of the processor: half of them those that are pressed most."""


def poses_between(before: Pose, after: Pose, shares: FloatArray) -> FloatArray:
    """Rotations and places at shares of the way between two poses, on which the head turns evenly: (k, 12)."""
    w, *axis = quaternion_product(after.quaternion * (1.0, 1.0, 1.0, 1.0), before.quaternion * (1.0, -1.0, -1.0, -1.0))
    vector = np.array(axis) if w >= 0.0 else -np.array(axis)
    sine = float(np.linalg.norm(vector))
    half = np.arctan2(sine, abs(w)) * shares
    unit = vector / sine if sine > 0.0 else np.zeros(3)
    turns = np.column_stack((np.cos(half), np.sin(half)[:, None] * unit))
    rotations = quaternion_to_matrix(quaternion_product(turns, np.tile(before.quaternion, (len(shares), 1))))
    places = before.position + shares[:, None] * (after.position - before.position)
    rotations[shares == 0.0], rotations[shares == 1.0] = before.rotation, after.rotation
    places[shares == 1.0] = after.position
    return np.hstack((rotations.reshape(-1, 9), places))


def fill_head(table: Any, head: tuple[HeadPart, ...]) -> None:
    """Write the head's shapes and grid into a table of hair."""
    table.shapes[:] = shape_rows(head)
    for grid in (part for part in head if isinstance(part, DistanceGrid)):
        table.cells[:], table.values[:] = grid.values.shape, grid.values.ravel()
        # a place on the last corner lies in the cell before it
        last = (np.array(grid.values.shape) - 1) * (1.0 - 1e-6)
        table.grid[:] = *grid.origin, 1.0 / grid.spacing, *last


def table_sizes(tables: RodTables, head: tuple[HeadPart, ...]) -> dict[str, int]:
    """Sizes of what all rods have in common, in a table for `MOST_STEPS` steps."""
    values = sum(part.values.size for part in head if isinstance(part, DistanceGrid))
    return common_sizes(tables.n, len(shape_rows(head)), values, MOST_STEPS)


class Runner(ABC):
    """Holds the numbers of all rods and makes their steps."""

    rods: int
    """How many there are."""
    size: int
    """How many numbers each has."""

    @abstractmethod
    def read(self, first: int, end: int) -> FloatArray:
        """The numbers `first` to `end` of each rod: (rods, end − first)."""

    @abstractmethod
    def write(self, rods: Any, state: FloatArray) -> None:
        """All numbers of some rods, (k, size)."""

    @abstractmethod
    def set_numbers(self, numbers: FloatArray) -> None:
        """See `tables.NUMBERS`."""

    @abstractmethod
    def run(self, steps: int, poses: FloatArray) -> None:
        """Some steps, along the head's poses: (PARTS × steps + 1, 12), the first where it is."""


class OnProcessor(Runner):
    """Four rods at once, by all threads."""

    def __init__(self, tables: RodTables, rods: int, head: tuple[HeadPart, ...], threads: int) -> None:
        self.rods, (self.size, factors) = rods, size_of(tables.n)
        self._fours = -(-rods // WIDTH)
        self._threads = min(threads, self._fours)
        self._table = FourHair(
            state=self._fours * self.size, factors=self._threads * factors, **table_sizes(tables, head)
        )
        fill_common(self._table, tables)
        fill_head(self._table, head)
        numbers: FloatArray = self._table.fields()["state"]
        self._state = numbers.reshape(self._fours, self.size, WIDTH)
        self._state[:, -1] = 1.0  # lanes without a rod stand still
        self._pool: ThreadPoolExecutor | None = None
        compile_once("hair", (self._compile,))

    def _compile(self) -> None:
        step_fours(0, 0, 0, np.zeros(1, np.int64), self._table)

    def read(self, first: int, end: int) -> FloatArray:
        """See `Runner`."""
        part = self._state[:, first:end].transpose(0, 2, 1).reshape(-1, end - first)
        return np.ascontiguousarray(part[: self.rods])

    def write(self, rods: Any, state: FloatArray) -> None:
        """See `Runner`."""
        chosen = np.arange(self.rods)[rods]
        self._state[chosen // WIDTH, :, chosen % WIDTH] = state

    def set_numbers(self, numbers: FloatArray) -> None:
        """See `Runner`."""
        self._table.numbers[:] = numbers

    def run(self, steps: int, poses: FloatArray) -> None:
        """See `Runner`."""
        self._table.poses[: poses.size] = poses.ravel()
        counter, helpers = np.zeros(1, np.int64), self._threads - 1
        if helpers and self._pool is None:
            self._pool = ThreadPoolExecutor(helpers, thread_name_prefix="sennit hair")
        others = [
            self._pool.submit(step_fours, self._fours, steps, room, counter, self._table)
            for room in range(1, helpers + 1)
        ] if self._pool else []  # fmt: skip
        step_fours(self._fours, steps, 0, counter, self._table)
        for each in others:
            each.result()


class OneByOne(Runner):
    """Rod after rod in float32: to see on a processor what a graphics card makes of it."""

    def __init__(self, tables: RodTables, rods: int, head: tuple[HeadPart, ...], threads: int) -> None:
        self.rods, (self.size, factors) = rods, size_of(tables.n)
        self._threads = min(threads, rods)
        self._table = OneHair(state=rods * self.size, factors=self._threads * factors, **table_sizes(tables, head))
        fill_common(self._table, tables)
        fill_head(self._table, head)
        self._state = halved(self._table, "state").reshape(rods, self.size)
        halve(self._table)
        self._run = host_program(step_some, (int, int, int, OneHair), "float32")
        self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="sennit hair")

    def read(self, first: int, end: int) -> FloatArray:
        """See `Runner`."""
        return self._state[:, first:end].astype(np.float64)

    def write(self, rods: Any, state: FloatArray) -> None:
        """See `Runner`."""
        self._state[rods] = state

    def set_numbers(self, numbers: FloatArray) -> None:
        """See `Runner`."""
        halved(self._table, "numbers")[:] = numbers

    def run(self, steps: int, poses: FloatArray) -> None:
        """See `Runner`."""
        halved(self._table, "poses")[: poses.size] = poses.ravel()
        self._table.counts[5:] = self.rods, steps
        ends = np.linspace(0, self.rods, self._threads + 1).astype(int).tolist()
        shares = zip(ends[:-1], ends[1:], range(self._threads), strict=True)
        for each in [self._pool.submit(self._run, *share, self._table._address) for share in shares]:
            each.result()


class OnCard(Runner):
    """A thread of a graphics card for each rod."""

    def __init__(
        self, tables: RodTables, rods: int, head: tuple[HeadPart, ...], dtype: str, tried: OnCard | None = None
    ) -> None:  # fmt: skip
        self.rods, (self.size, factors) = rods, size_of(tables.n)
        self._device: gpu_driver.Device = gpu_driver.Device() if tried is None else tried._device
        self._table = OneHair(state=0, factors=0, **table_sizes(tables, head))
        fill_common(self._table, tables)
        fill_head(self._table, head)
        self._given, self._dtype = (tables, head), dtype
        self._trials = Trials(dtype) if tried is None else None
        """When the processor makes the same step; None: these are some rods of `tried`, in such a trial."""
        self._numbers = np.zeros(0)
        self._single = dtype == "float32"
        if self._single:
            halve(self._table)
        self._kind = np.dtype(dtype)
        self._words = self._device.memory(self._table.all_words.nbytes)
        self._state = self._device.memory(rods * self.size * self._kind.itemsize)
        self._factors = self._device.memory(rods * factors * self._kind.itemsize)
        block = block_elsewhere(
            self._table, self._words.address,
            {"state": (self._state.address, rods * self.size), "factors": (self._factors.address, rods * factors)},
        )  # fmt: skip
        self._block = self._device.memory(block.nbytes)
        self._block.put(block)
        target = gpu_program.Target(self._device.processor, dtype)
        self._function: gpu_driver.Function = (
            tried._function if tried else loaded(self._device, step_each, (OneHair,), target)
        )

    def read(self, first: int, end: int) -> FloatArray:
        """See `Runner`."""
        found = np.empty((end - first, self.rods), self._kind)
        self._state.get(found, first * self.rods * self._kind.itemsize)
        return np.ascontiguousarray(found.T, dtype=np.float64)

    def write(self, rods: Any, state: FloatArray) -> None:
        """See `Runner`."""
        whole = self.read(0, self.size) if len(state) < self.rods else np.empty((self.rods, self.size))
        whole[rods] = state
        self._state.put(np.ascontiguousarray(whole.T, dtype=self._kind))

    def _set(self, name: str, values: FloatArray) -> None:
        array = halved(self._table, name) if self._single else getattr(self._table, name)
        array[: values.size] = values

    def set_numbers(self, numbers: FloatArray) -> None:
        """See `Runner`."""
        self._set("numbers", numbers)
        self._numbers = numbers

    def run(self, steps: int, poses: FloatArray) -> None:
        """See `Runner`. Raises `InputError`, and changes nothing, if the card was found not to compute as it should."""
        if self._trials is not None and self._trials.is_due():
            self._try_step(self._trials, poses[: PARTS + 1])
        self._set("poses", poses.ravel())
        self._table.counts[5:] = self.rods, steps
        self._words.put(self._table.all_words)
        self._function.launch(self.rods, [self._block.address], BLOCK)

    def _try_step(self, trials: Trials, poses: FloatArray) -> None:
        """Let a few rods make a step of their own here and on the processor, from the same numbers."""
        tables, head = self._given
        presses = 8 * tables.n + FRAME * len(tables.bends) + PULL * len(tables.stretches)
        pressed = self.read(presses, presses + len(tables.bends) + 1).sum(axis=1)
        chosen = np.unique(
            (*np.argsort(-pressed)[: _TRIED // 2], *np.linspace(0, self.rods - 1, _TRIED // 2, dtype=int))
        )
        count, q = len(chosen), 4 * tables.n
        begun = np.empty((count, self.size), self._kind)
        for k, rod in enumerate(chosen.tolist()):
            column = np.empty((self.size, 1), self._kind)
            begun[k] = self._state.get_rows(column, rod * self._kind.itemsize, self.rods * self._kind.itemsize)[:, 0]
        state = begun.astype(np.float64)
        here = OnCard(tables, count, head, self._dtype, self)
        there = (OneByOne if self._single else OnProcessor)(tables, count * (1 + COPIES), head, 1)
        copies = [state]
        for k in range(COPIES):
            other = state.copy()
            for part in (slice(0, q), slice(q, 2 * q)):
                other[:, part] = blurred(state[:, part], trials.grain, k)
            copies.append(other)
        for runner, given in ((here, state), (there, np.concatenate(copies))):
            runner.write(slice(None), given)
            runner.set_numbers(self._numbers)
            runner.run(1, poses)
        found = here.read(0, q)
        wanted = there.read(0, q).reshape(1 + COPIES, count, q)
        size = float(tables.length)
        for k, rod in enumerate(chosen.tolist()):
            off = float(np.abs(found[k] - wanted[0, k]).max())
            allowed = trials.allowed(wanted[0, k], wanted[1:, k], size)
            if not (off <= allowed or np.isnan(wanted[0, k]).any()):
                trials.refuse(f"strand {rod}", off, allowed)


def prepare_hair() -> None:
    """Compile, or load, what the first step of hair needs."""
    from sennit.bodies.rod.rod import Rod
    from sennit.material import Material, Section

    rod = Rod.straight(
        (0, 0, 0), (0, 0, 0.1), section=Section.circle(1e-3), material=Material(1e6, 0.4, 1000), control_points=5
    )
    OnProcessor(rod.tables, 1, (), 1)._compile()
