"""What is read of a batch on a graphics card, computed there: arrays with the scenes along their first axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from sennit.batch.card import Card, CardArray
from sennit.batch.kernels.read_each import axes_each, energies_each, wrench_each
from sennit.batch.launch import Axes, Energies, Wrenches
from sennit.batch.memory import Words
from sennit.solve.table import BodyEnergies
from sennit.tables import Table
from sennit.validation import FloatArray

__all__ = ["Sizes", "axes", "energies", "wrenches"]

Sizes = frozenset[tuple[str, str]]
"""Sizes of tables that are 0: see `gpu_program.Target`."""


def wrenches(card: Card, scenes: Words, first: int, end: int, root: Table, empty: Sizes) -> CardArray:
    """Wrench of the rows `first` to `end`, and how far each is off: (B, 6 + rows)."""
    out = _room(card, len(scenes), 6 + end - first)
    given = {"scenes": scenes, "ends": np.array([first, end]), "out": out}
    block, kept = card.block(Wrenches, given)
    card.function(wrench_each, (Wrenches, type(root)), empty).launch(len(scenes), [block.address, 0])
    del kept
    return out


def energies(card: Card, scenes: Words, gravity: FloatArray, bodies: int, root: Table, empty: Sizes) -> CardArray:
    """Energies by kind and their sum: (B, 7)."""
    count, out = len(scenes), _room(card, len(scenes), 7)
    parts, rooms = _parts(card, count, bodies)
    given = {"scenes": scenes, "parts": parts, "gravity": gravity, "out": out}
    block, kept = card.block(Energies, given)
    function = card.function(energies_each, (Energies, BodyEnergies, type(root)), empty)
    function.launch(count, [block.address, 0, 0])
    del kept, rooms
    return out


def axes(card: Card, scenes: Words, body: int, root: Table, empty: Sizes) -> CardArray:
    """Axes of a rigid body as columns: (B, 3, 3)."""
    out = _room(card, len(scenes), 9)
    block, kept = card.block(Axes, {"scenes": scenes, "body": np.array([body]), "out": out})
    card.function(axes_each, (Axes, type(root)), empty).launch(len(scenes), [block.address, 0])
    del kept
    return CardArray(out.memory, out.dtype, (len(scenes), 3, 3))


def _room(card: Card, *shape: int) -> CardArray:
    kind = np.dtype(card.dtype)
    return CardArray(card.device.memory(kind.itemsize * int(np.prod(shape))), kind, shape)


def _parts(card: Card, count: int, bodies: int) -> tuple[Words, Any]:
    """Addresses of `count` tables `BodyEnergies`, and what is to be kept while they are used."""
    names = list(BodyEnergies._fields)
    numbers = _room(card, count, len(names), max(bodies, 1))
    item = numbers.dtype.itemsize
    blocks = np.zeros((count, len(names), 7), np.int64)
    blocks[:, :, 2], blocks[:, :, 3], blocks[:, :, 5], blocks[:, :, 6] = bodies, item, bodies, item
    scene, name = np.indices((count, len(names)))
    blocks[:, :, 4] = numbers.address + item * max(bodies, 1) * (scene * len(names) + name)
    memory = card.device.memory(blocks.nbytes)
    memory.put(blocks)
    return memory.address + 8 * 7 * len(names) * np.arange(count, dtype=np.int64), (numbers, memory)
