"""Gizmos that move handles: targets of clamps and fixes, points of the world."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sennit.validation import FloatArray
from sennit.view.page.hand import Stamp

if TYPE_CHECKING:
    from viser import ViserServer

__all__ = ["Gizmos"]

SIZE = 0.09
"""Length of a gizmo's arrows, as part of the scene's size."""


class Gizmos:
    """One gizmo for each handle; `move` is called with its number, position (3,), m, and quaternion (4,), and the
    generation of that number.
    """

    def __init__(self, server: ViserServer, move: Callable[[int, FloatArray, FloatArray, int], None]) -> None:
        self._server, self._move = server, move
        self._nodes: list[Any] = []
        self._key: Any = None
        self._busy: set[int] = set()
        """Numbers of those that somebody moves."""
        self._scale = 1.0
        self._stamp = Stamp(0)
        self.visible = False

    def recast(self, handles: Sequence[dict[str, Any]], scale: float, size: float, generation: int) -> None:
        """Have a gizmo for each of `handles`, numbered by a `generation`; metres are drawn `scale` times as long, the
        scene's `size` is in m.
        """
        key = ([(h["name"], h["turns"]) for h in handles], scale)
        self._scale = scale
        if key == self._key:
            self._stamp.generation = generation
            return
        self._key, self._stamp = key, Stamp(generation)
        for node in self._nodes:
            node.remove()
        self._busy.clear()
        self._nodes = [self._add(k, bool(h["turns"]), SIZE * size * scale) for k, h in enumerate(handles)]

    def _add(self, number: int, turns: bool, length: float) -> Any:
        node = self._server.scene.add_transform_controls(
            f"/handles/{number}", scale=length, line_width=2.0, disable_sliders=True, disable_rotations=not turns,
            depth_test=False, opacity=0.85, visible=self.visible,
        )  # fmt: skip
        stamp = self._stamp

        async def moved(event: Any) -> None:
            if event.phase == "end":
                self._busy.discard(number)
            else:
                self._busy.add(number)
            if event.phase != "start":
                quaternion = np.array(event.target.wxyz, float)
                place = np.array(event.target.position, float) / self._scale
                self._move(number, place, quaternion, stamp.generation)

        node.on_update(moved)
        return node

    def show(self, visible: bool) -> None:
        """Show or hide all of them."""
        self.visible = visible
        for node in self._nodes:
            node.visible = visible

    def draw(self, poses: FloatArray) -> None:
        """Move all but those that somebody moves to `poses`, (n, 7)."""
        if not self.visible:
            return
        for k, (node, pose) in enumerate(zip(self._nodes, poses, strict=True)):
            if k not in self._busy:
                node.position, node.wxyz = pose[:3] * self._scale, pose[3:]
