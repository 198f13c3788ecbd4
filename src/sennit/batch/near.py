"""Batches on a graphics card whose threads bring their scene's numbers into memory of their own for a call's steps.

A card interleaves the own memories of neighbouring threads, as `march_near` tells: nobody has measured yet what that
gains. ``sennit bench batch --device cuda`` does, beside `CardBatch`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sennit.attributes import guarded
from sennit.batch.device import CardBatch
from sennit.batch.kernels.march_near import march_near
from sennit.batch.launch import Launch, Near
from sennit.batch.memory import pointers
from sennit.bodies.slider.slider import Slider
from sennit.errors import InputError
from sennit.gpu_driver import Function
from sennit.scene.scene import Scene

__all__ = ["NearBatch"]


@guarded()
class NearBatch(CardBatch):
    """A `CardBatch` of scenes whose matrix keeps its pattern: without sliders and contact."""

    def _refuse(self, scene: Scene) -> None:
        super()._refuse(scene)
        if scene._rules.rules or any(isinstance(body, Slider) for body in scene._bodies):
            raise InputError("scenes with sliders or contact change the pattern of their matrix: use sennit.Batch")

    def _lay_out(self) -> None:
        super()._lay_out()
        shelf = self._shop.shelf
        main, room = self._shop.main, shelf.region
        rooms: Any = self._rooms
        addresses = np.array([chunk.base[k] for chunk, k in rooms], np.int64)
        at = {"main": pointers(main, main), "room": pointers(room, main), "inner": shelf.to_own}
        self._near, *self._near_kept = self._card.block(
            Near,
            {"main": self._base, "room": addresses, "main_words": np.array([main.size]),
             "main_head": np.array([main.head]), "room_words": np.array([room.size]),
             "room_head": np.array([room.head]), "root": np.array([shelf.root]),
             **{f"{name}_{word}": array for name, both in at.items()
                for word, array in zip(("at", "to"), both, strict=True)}},
        )  # fmt: skip

    def _program(self) -> Function:
        root = self._shop.root()
        own = self._shop.main.size + self._shop.shelf.region.size
        return self._card.function(march_near, (Launch, Near, type(root), int), self._empty, own_words=own)

    def _run_program(self, threads: int, launch: int) -> None:
        self._program().launch(threads, [launch, self._near.address, 0], block=64)
