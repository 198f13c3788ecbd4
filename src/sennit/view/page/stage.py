"""What the browser's scene holds: painted meshes, solids, what can be grabbed, the ground and the hand's line.

Lengths are drawn `Stage.scale` times as long as they are. Nodes are kept from one cast to the next where they fit, so
that adding a pin neither flickers nor ends a drag.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sennit.portrait.bounds import bounds
from sennit.portrait.cast import Cast
from sennit.portrait.parts import Solid, Surface, Tube
from sennit.validation import FloatArray
from sennit.view.page.framing import grid_cell, scale_for
from sennit.view.page.painting import Painting, Patch, painted

if TYPE_CHECKING:
    from viser import ViserServer

__all__ = ["HAND", "Stage"]

HAND = (255, 140, 66)
"""Colour of the line from the hand to what it holds."""
SHADES = {
    False: {"cell": (214, 219, 224), "section": (190, 197, 204), "plane": (246, 247, 248), "shadow": 0.22},
    True: {"cell": (52, 60, 68), "section": (74, 84, 94), "plane": (30, 36, 42), "shadow": 0.5},
}
"""Of the ground, by whether the page is dark."""
EASE = 0.012
"""How near to the middle of a rod the pointer must be to grab it, as part of the scene's size."""
MOST_COLOURS = 24
"""Of one solid; more are rounded."""


class Stage:
    """The scene of `server`. All methods are called from one thread."""

    def __init__(self, server: ViserServer) -> None:
        self.server = server
        self.scale = 1.0
        self.low, self.high = np.zeros(3), np.ones(3)
        self.ground_height = 0.0
        self._sized = False
        self._given_ground: float | None = None
        self._painting: Painting | None = None
        self._meshes: dict[Any, Any] = {}
        self._faces: dict[Any, Any] = {}
        self._solids: dict[int, _Node] = {}
        self._grips: dict[int, _Node] = {}
        self._grid: Any = None
        self._grid_key: Any = None
        self._line: Any = None
        self._tip: Any = None
        self.dark = False
        self.show_ground = True
        self.show_ties = True
        self.on_grab: Any = None
        """Called (a coroutine) with the number of a part and viser's drag event."""

    # -------------------------------------------------------------------------------------------------- what is there

    @property
    def size(self) -> float:
        """Diagonal of what is shown, m."""
        return float(np.linalg.norm(self.high - self.low))

    def recast(self, cast: Cast, frame: FloatArray, ground: float | None) -> None:
        """Show other parts from now on; `frame` is the first frame of them."""
        self.low, self.high = bounds(cast, frame)
        scale = scale_for(self.low, self.high, self.scale if self._sized else None)
        fresh = scale != self.scale or not self._sized
        self.scale, self._sized, self._given_ground = scale, True, ground
        if fresh:
            for node in (*self._solids.values(), *self._grips.values()):
                node.remove()
            self._solids, self._grips = {}, {}
        self._painting = Painting(cast, scale)
        self._keep_solids(cast)
        self._keep_grips(cast)
        self.ground_height = float(self.low[2]) - 0.02 * self.size if ground is None else ground
        self._draw_ground()

    def widen(self, cast: Cast, frame: FloatArray) -> bool:
        """Make room for what has moved out of where things were, ground included; returns whether that was a lot."""
        low, high = bounds(cast, frame)
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            return False
        low, high = np.minimum(low, self.low), np.maximum(high, self.high)
        if max(np.max(self.low - low), np.max(high - self.high)) < 0.04 * self.size:
            return False
        self.low, self.high = low, high
        if self._given_ground is None and low[2] < self.ground_height:
            self.ground_height = float(low[2]) - 0.02 * self.size
        self._draw_ground()
        return True

    def _keep_solids(self, cast: Cast) -> None:
        wanted: dict[int, tuple[Any, ...]] = {}
        for number, (part, name) in enumerate(zip(cast.parts, _names(cast), strict=True)):
            if isinstance(part, Solid) and not painted(part):
                wanted[number] = (name, part.role, part.colour, part.opacity, part.smooth, _digest(part))
        kept = _kept(self._solids, wanted)
        self._solids = {}
        for number, key in wanted.items():
            part = cast.parts[number]
            assert isinstance(part, Solid)
            node = kept.get(key)
            if node is None:
                node = _Node(key, self._add_solid(f"/solids/{key[0]}", part))
            if part.role == "body":
                self._listen(node, number)
            self._solids[number] = node

    def _add_solid(self, name: str, part: Solid) -> list[Any]:
        """A frame that is moved, and below it a mesh for each colour."""
        scene = self.server.scene
        nodes: list[Any] = [scene.add_frame(name, show_axes=False)]
        colours = np.tile(np.array(part.colour, np.uint8), (len(part.faces), 1))
        if part.face_colours is not None:
            colours = _few_colours(part.face_colours)
        different, group = np.unique(colours, axis=0, return_inverse=True)
        group = group.reshape(-1)
        for k, colour in enumerate(different):
            faces = part.faces[group == k]
            used = np.unique(faces)
            nodes.append(
                scene.add_mesh_simple(
                    f"{name}/{k}",
                    (part.vertices[used] * self.scale).astype(np.float32),
                    np.searchsorted(used, faces).astype(np.uint32),
                    color=colour,
                    opacity=None if part.opacity >= 1.0 else part.opacity,
                    flat_shading=not part.smooth,
                )
            )
        return nodes

    def _keep_grips(self, cast: Cast) -> None:
        """What the pointer meets instead of rods and surfaces: unseen, and thicker where those are thin."""
        grips: dict[int, _Grip] = {}
        wanted: dict[int, tuple[Any, ...]] = {}
        for number, (part, name) in enumerate(zip(cast.parts, _names(cast), strict=True)):
            if part.role == "body" and not isinstance(part, Solid):
                grip = grips[number] = _Grip(part, EASE * self.size)
                wanted[number] = (name, part.kind, len(grip.faces), grip.count)
        kept = _kept(self._grips, wanted)
        self._grips = {}
        for number, key in wanted.items():
            grip, node = grips[number], kept.get(key)
            if node is None:
                mesh = self.server.scene.add_mesh_simple(
                    f"/grips/{key[0]}", np.zeros((grip.count, 3), np.float32), grip.faces, opacity=0.0,
                    cast_shadow=False, receive_shadow=False, side="double",
                )  # fmt: skip
                node = _Node(key, [mesh])
            node.grip = grip
            self._listen(node, number)
            self._grips[number] = node

    def _listen(self, node: _Node, number: int) -> None:
        node.number = number
        if node.listens:
            return
        node.listens = True

        async def dragged(event: Any) -> None:
            if self.on_grab is not None:
                await self.on_grab(node.number, event)

        for mesh in node.nodes:
            if hasattr(mesh, "on_drag") and hasattr(mesh, "vertices"):
                mesh.on_drag("left")(dragged)

    # --------------------------------------------------------------------------------------------------------- frames

    def draw(self, views: Sequence[Any], field: tuple[str, float, float, Any] | None) -> None:
        """Move everything to where it is in a frame; `field`: its name, range and colours, or None."""
        assert self._painting is not None
        self._painting.place(views)
        patches = self._painting.plain() if field is None else self._painting.shaded(views, *field)
        self._paint(patches)
        for number, node in self._solids.items():
            view = views[number]
            node.nodes[0].visible = bool(view.shown[0]) and (self.show_ties or node.key[1] != "tie")
            pose = np.concatenate((view.position * self.scale, view.quaternion))
            if node.pose is None or not np.array_equal(pose, node.pose):
                node.pose = pose
                node.nodes[0].position, node.nodes[0].wxyz = pose[:3], pose[3:]

    def _paint(self, patches: list[Patch]) -> None:
        seen = set()
        for patch in patches:
            shade = patch.shade
            if shade.role == "tie" and not self.show_ties:
                continue
            seen.add(shade)
            mesh = self._meshes.get(shade)
            if mesh is None:
                self._meshes[shade] = self.server.scene.add_mesh_simple(
                    f"/painted/{len(self._meshes)}", patch.vertices, patch.faces, color=shade.colour,
                    opacity=None if shade.opacity >= 1.0 else shade.opacity, flat_shading=shade.flat,
                    side="double" if shade.double else "front",
                )  # fmt: skip
            else:
                mesh.visible = True
                mesh.vertices = patch.vertices
                if self._faces.get(shade) is not patch.faces:
                    mesh.faces = patch.faces
            self._faces[shade] = patch.faces
        for shade in self._meshes.keys() - seen:
            self._meshes[shade].visible = False

    def draw_grips(self, views: Sequence[Any], held: int | None, moved: FloatArray) -> None:
        """Move what the pointer meets to where it is in a frame. While part `held` is dragged, its own only moves along
        by `moved`, m: viser's arrow then starts from the place that is held.
        """
        for number, node in self._grips.items():
            mesh = node.nodes[0]
            if number == held:
                mesh.position = moved * self.scale
                continue
            mesh.position = np.zeros(3)
            mesh.vertices = (node.grip.vertices(views[number]) * self.scale).astype(np.float32)

    def draw_hand(self, holding: bool, hand: FloatArray, grip: FloatArray) -> None:
        """The line from the hand to what it holds, while it does."""
        if holding:
            ends = np.stack((hand, grip)) * self.scale
            if self._line is None:
                self._line = self.server.scene.add_line_segments(
                    "/hand/line", ends[None].astype(np.float32), HAND, thickness=2.0, thickness_units="screen"
                )
                self._tip = self.server.scene.add_icosphere(
                    "/hand/tip", radius=0.006 * self.size * self.scale, color=HAND, cast_shadow=False
                )
            self._line.points = ends[None].astype(np.float32)
            self._tip.position = ends[0]
        if self._line is not None:
            self._line.visible = self._tip.visible = holding

    # --------------------------------------------------------------------------------------------------------- ground

    def dress(self, *, dark: bool | None = None, ground: bool | None = None, ties: bool | None = None) -> None:
        """Change how things look."""
        self.dark = self.dark if dark is None else dark
        self.show_ground = self.show_ground if ground is None else ground
        self.show_ties = self.show_ties if ties is None else ties
        self._draw_ground()

    def _draw_ground(self) -> None:
        cell = grid_cell(self.size)
        middle = 0.5 * (self.low + self.high)
        # The grid's lines stay at multiples of its cells.
        at = np.array([*(np.round(middle[:2] / (10.0 * cell)) * 10.0 * cell), self.ground_height])
        key = (cell, tuple(at.tolist()), self.scale, self.dark)
        if key != self._grid_key and self._sized:
            self._grid_key = key
            shades: dict[str, Any] = SHADES[self.dark]
            drawn = self.size * self.scale
            self._grid = self.server.scene.add_grid(
                "/ground", width=12.0 * drawn, height=12.0 * drawn, cell_size=cell * self.scale,
                section_size=10.0 * cell * self.scale, cell_color=shades["cell"], section_color=shades["section"],
                plane_color=shades["plane"], plane_opacity=0.9, shadow_opacity=shades["shadow"],
                fade_distance=7.0 * drawn, fade_strength=1.5, fade_from="camera", position=at * self.scale,
            )  # fmt: skip
        if self._grid is not None:
            self._grid.visible = self.show_ground


class _Node:
    """Nodes of the browser's scene that belong to one part; `key` says when they can be used again."""

    def __init__(self, key: tuple[Any, ...], nodes: list[Any]) -> None:
        self.key, self.nodes = key, nodes
        self.number = -1
        self.listens = False
        self.pose: FloatArray | None = None
        self.grip: Any = None

    def remove(self) -> None:
        self.nodes[0].remove()  # and what is below it


class _Grip:
    """An unseen coarse mesh round a rod, at least `radius`, m, thick; or a surface as it is."""

    SIDES = 6
    MOST = 48
    """Stations of a rod, at most."""

    def __init__(self, part: Tube | Surface, radius: float) -> None:
        self._part = part
        if isinstance(part, Surface):
            self.faces = part.faces.astype(np.uint32)
            self.count = part.count
            return
        from sennit.portrait.meshing import tube_faces, tube_stations

        chosen = np.unique(np.linspace(0, part.count - 1, min(part.count, self.MOST)).astype(int))
        half = max(radius, part.half[0]), max(radius, part.half[1])
        self._chosen = chosen
        self._tube = Tube(name=part.name, colour=part.colour, count=len(chosen), half=half, closed=part.closed)
        self.faces = tube_faces(self._tube, self.SIDES).astype(np.uint32)
        self.count = len(tube_stations(self._tube, self.SIDES))

    def vertices(self, view: Any) -> FloatArray:
        """In a frame, (count, 3), m."""
        if view.shown[0] == 0.0:
            return np.zeros((self.count, 3))
        if isinstance(self._part, Surface):
            return view.vertices  # type: ignore[no-any-return]
        from sennit.portrait.meshing import tube_vertices
        from sennit.portrait.parts import TubeView

        thin = TubeView(view.shown, view.centres[self._chosen], view.directors[self._chosen], {})
        return tube_vertices(self._tube, thin, self.SIDES)


def _kept(nodes: dict[int, _Node], wanted: dict[int, tuple[Any, ...]]) -> dict[tuple[Any, ...], _Node]:
    """Those of `nodes` that can be used again, by key. The others are removed, before new ones take their names."""
    keys = set(wanted.values())
    for node in nodes.values():
        if node.key not in keys:
            node.remove()
    return {node.key: node for node in nodes.values() if node.key in keys}


def _names(cast: Cast) -> list[str]:
    """A name for each part's nodes: different ones, without what names of nodes can't have."""
    taken: Counter[str] = Counter()
    names = []
    for part in cast.parts:
        base = f"{part.kind} " + "".join(c if c.isalnum() or c in " -_." else "_" for c in part.name)
        taken[base] += 1
        names.append(base if taken[base] == 1 else f"{base} {taken[base]}")
    return names


def _digest(part: Solid) -> bytes:
    """The same for solids of the same shape and colours."""
    whole = hashlib.blake2b(digest_size=16)
    for array in (part.vertices, part.faces, part.face_colours):
        if array is not None:
            whole.update(np.ascontiguousarray(array).tobytes())
    return whole.digest()


def _few_colours(colours: Any) -> Any:
    """`colours`, (f, 3), rounded so that there are not too many different ones."""
    for step in (1, 8, 16, 32, 64):
        rounded = np.minimum(colours // step * step + step // 2, 255).astype(np.uint8)
        if step == 1:
            rounded = colours
        if len(np.unique(rounded, axis=0)) <= MOST_COLOURS:
            break
    return rounded
