"""The parts of a picture: tubes, solids and surfaces. What never changes of them, and the numbers of one frame.

A frame is one flat array of numbers. Each part owns a block of it::

    Tube     shown, centres (n, 3), directors d1 (n, 3), each field (n,)
    Solid    shown, position (3,), quaternion (4,)
    Surface  shown, vertices (n, 3), each field (n,)

`shown` is 1, or 0 while the part is hidden. Lengths in metres, world frame, colours (red, green, blue) from 0 to 255.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sennit.geometry.rotations import quaternion_to_matrix
from sennit.material import Look
from sennit.validation import FloatArray

__all__ = [
    "ROD_FIELDS",
    "UNITS",
    "Colour",
    "Part",
    "Role",
    "Solid",
    "SolidView",
    "Surface",
    "SurfaceView",
    "Tube",
    "TubeView",
]

Colour = tuple[int, int, int]
Role = Literal["body", "tie", "decor", "obstacle"]
"""A body can be dragged; a tie shows a constraint; an obstacle stands in the way; a decor is only looked at, and so is
an obstacle without an end."""

ROD_FIELDS = ("curvature", "twist", "tension")
"""Those that rods carry."""
UNITS = {"curvature": "1/m", "twist": "rad/m", "tension": "N", "pressure": "Pa", "displacement": "m"}
"""The fields that parts may carry, and their units."""


@dataclass(frozen=True, slots=True)
class TubeView:
    """The block of a tube: views into a frame."""

    shown: FloatArray
    """1 where it is drawn, else 0: (1,)."""
    centres: FloatArray
    """Places along its middle, (n, 3), m."""
    directors: FloatArray
    """d1 of the sections, (n, 3)."""
    fields: dict[str, FloatArray]
    """Values to colour it by, (n,) each."""


@dataclass(frozen=True, slots=True)
class SolidView:
    """The block of a solid: views into a frame."""

    shown: FloatArray
    """1 where it is drawn, else 0: (1,)."""
    position: FloatArray
    """Where its origin is, (3,), m."""
    quaternion: FloatArray
    """(4,), scalar first."""


@dataclass(frozen=True, slots=True)
class SurfaceView:
    """The block of a surface: views into a frame."""

    shown: FloatArray
    """1 where it is drawn, else 0: (1,)."""
    vertices: FloatArray
    """Where they are, (n, 3), m."""
    fields: dict[str, FloatArray]
    """Values to colour it by, (n,) each."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Part(abc.ABC):
    """Something that is seen; never changes."""

    kind: ClassVar[str]
    name: str
    colour: Colour
    role: Role = "body"
    opacity: float = 1.0
    rough: float = 0.6
    """How far light is scattered where it is thrown back: 0 is a mirror, 1 is chalk."""
    metal: float = 0.0
    """1 for bare metal, which throws light back in its own colour; 0 for everything else."""

    @property
    @abc.abstractmethod
    def size(self) -> int:
        """How many numbers its block has."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Tube(Part):
    """A rod, a strand, a cable or a straight link: `count` stations with an elliptic or rectangular section."""

    kind: ClassVar[str] = "tube"
    count: int
    half: tuple[float, float]
    """Half widths of the section along d1 and d2, m: the largest, where they vary."""
    widths: FloatArray | None = None
    """Those of each station over the largest, (count,); None: they are the same all along."""
    rectangular: bool = False
    closed: bool = False
    """The last station is where the first is."""
    stripe: Colour | None = None
    """Colour of a stripe along d1 that shows twist."""
    look: Look = "smooth"
    """What its surface is like; strands, plaits and wires wind with d1, and show twist, too."""
    fields: tuple[str, ...] = ()
    mark: bool = False
    """Whether it only shows where a constraint acts, as links and circles do: nothing of this thickness is there."""

    @property
    def size(self) -> int:
        """How many numbers its block has."""
        return 1 + (6 + len(self.fields)) * self.count

    def view(self, block: FloatArray) -> TubeView:
        """`block`, (size,), by name."""
        n = self.count
        rest = block[1 + 6 * n :].reshape(-1, n)
        return TubeView(
            block[:1],
            block[1 : 1 + 3 * n].reshape(n, 3),
            block[1 + 3 * n : 1 + 6 * n].reshape(n, 3),
            dict(zip(self.fields, rest, strict=True)),
        )

    def places(self, view: TubeView) -> FloatArray:
        """Where its stations are in one frame: (count, 3), m."""
        return view.centres


@dataclass(frozen=True, eq=False, kw_only=True)
class Solid(Part):
    """A triangle mesh that moves as a rigid body: `vertices` (v, 3), m, in its own frame, `faces` (f, 3)."""

    kind: ClassVar[str] = "solid"
    vertices: FloatArray
    faces: NDArray[np.int64]
    face_colours: NDArray[np.uint8] | None = None
    """(f, 3), in place of `colour`."""
    smooth: bool = False
    """Whether its edges are rounded off in shading (spheres, wheels)."""

    @property
    def size(self) -> int:
        """How many numbers its block has."""
        return 8

    def view(self, block: FloatArray) -> SolidView:
        """`block`, (size,), by name."""
        return SolidView(block[:1], block[1:4], block[4:8])

    def places(self, view: SolidView) -> FloatArray:
        """Where its vertices are in one frame: (v, 3), m, in the world."""
        return np.asarray(self.vertices @ quaternion_to_matrix(view.quaternion).T + view.position)


@dataclass(frozen=True, eq=False, kw_only=True)
class Surface(Part):
    """A triangle mesh whose vertices move: a zone."""

    kind: ClassVar[str] = "surface"
    count: int
    """Number of vertices."""
    faces: NDArray[np.int64]
    fields: tuple[str, ...] = field(default=())

    @property
    def size(self) -> int:
        """How many numbers its block has."""
        return 1 + (3 + len(self.fields)) * self.count

    def view(self, block: FloatArray) -> SurfaceView:
        """`block`, (size,), by name."""
        n = self.count
        rest = block[1 + 3 * n :].reshape(-1, n)
        return SurfaceView(block[:1], block[1 : 1 + 3 * n].reshape(n, 3), dict(zip(self.fields, rest, strict=True)))

    def places(self, view: SurfaceView) -> FloatArray:
        """Where its vertices are in one frame: (count, 3), m."""
        return view.vertices
