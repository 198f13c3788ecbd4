"""What the pictures of constraints are drawn with: bodies of a scene, and points, axes and forces over them.

Lengths are in metres, the ground is at z = 0. Blue is what a constraint holds a point to, red is what it applies.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
from numpy.typing import ArrayLike
from PIL import Image, ImageDraw, ImageFont

import sennit as sn
from sennit.export.files import replacing
from sennit.export.painting import Camera, Facets, Stage
from sennit.export.solids import ball, bar, block, floor, tube, wheel

__all__ = [
    "BODY", "CORD", "FORCE", "HELD", "INK", "ROD", "ROD2", "RUBBER", "STIFF", "WORLD", "Sketch", "cord", "hung",
    "letters", "write",
]  # fmt: skip

SIZE = (700, 400)
FINER = 3
PAPER, SHADE = (246, 247, 249), (52, 60, 72)
INK, FORCE, HELD = (38, 44, 54), (202, 52, 46), (36, 98, 176)
ROD, ROD2, BODY, WORLD = (224, 150, 64), (76, 158, 146), (134, 158, 188), (146, 152, 162)
FONTS = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
RUBBER = sn.Material(youngs_modulus=2e6, poisson_ratio=0.45, density=1100, relaxation_time=5e-3)
STIFF = sn.Material(youngs_modulus=1.6e7, poisson_ratio=0.45, density=1100, relaxation_time=5e-3)
CORD = sn.Section.circle(6e-3)


def cord(start: tuple[float, ...], end: tuple[float, ...], control_points: int = 40) -> sn.Rod:
    """A straight cord of 12 mm that stands by itself."""
    return sn.Rod.straight(start, end, section=CORD, material=STIFF, control_points=control_points)


def hung(start: tuple[float, ...], end: tuple[float, ...], length: float, material: sn.Material = RUBBER) -> sn.Rod:
    """A cord of `length` (m) laid out in an arc below the line between two places."""
    a, b = np.array(start), np.array(end)
    s = np.linspace(0.0, 1.0, 80)
    span = float(np.linalg.norm(b - a))
    depth = np.sqrt(max(3.0 / 8.0 * span * (length - span), 0.0))
    line = a + np.outer(s, b - a) - np.outer(4.0 * depth * s * (1.0 - s), (0.0, 0.0, 1.0))
    return sn.Rod.through(line, section=CORD, material=material, control_points=40, straight=True)


def letters(italic: bool, size: int) -> ImageFont.FreeTypeFont:
    """A typeface, `size` pixels high."""
    return ImageFont.truetype(str(FONTS / ("STIXGeneralItalic.ttf" if italic else "DejaVuSans.ttf")), size)


def _perpendicular(axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    start = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = np.cross(axis, start)
    first /= np.linalg.norm(first)
    return first, np.cross(axis, first)


class Sketch:
    """A picture: bodies first, then what is drawn over them.

    `target`: what the camera looks at, from the direction `towards`; `width`: how many metres fill the picture there.
    """

    def __init__(self, target: ArrayLike, width: float, towards: ArrayLike = (-0.26, -1.0, 0.3)) -> None:
        away = np.asarray(towards, dtype=float)
        eye = np.asarray(target, dtype=float) + 5.0 * width * away / np.linalg.norm(away)
        self._camera = Camera(eye, target, size=SIZE, width=width)
        self._pixel = width / SIZE[0]
        self._parts: list[Facets] = []
        self._glass: list[tuple[Facets, float]] = []
        ground = floor(self._camera, (-60.0 * width, -60.0 * width), (60.0 * width, 60.0 * width))
        self._stage = Stage(self._camera, PAPER, ground, shadow=SHADE)
        self._stage.polygon(ground, PAPER)
        self._stage.finish()
        self._layer = Image.new("RGBA", (SIZE[0] * FINER, SIZE[1] * FINER), (*PAPER, 0))
        self._draw = ImageDraw.Draw(self._layer)

    # ------------------------------------------------------------------------------------------------------ bodies

    def add(self, *facets: Facets) -> None:
        """Paint these."""
        self._parts += facets

    def glass(self, facets: Facets, strength: float = 0.22) -> None:
        """Paint these so that what is behind them shines through."""
        self._glass.append((facets, strength))

    def rod(self, rod: sn.Rod, colour: ArrayLike = ROD, radius: float | None = None) -> None:
        """A rod as it is now; `radius` (m) if its own is too thin to be seen."""
        self.add(tube(rod.centerline(160), radius or 4.0 * self._pixel, colour, sides=14, closed=rod.closed))

    def box(self, body: sn.RigidBody, size: ArrayLike, colour: ArrayLike = BODY) -> None:
        """A rigid box as it is now."""
        self.add(block(body.position, body.pose.rotation, size, colour, pieces=8))

    def post(self, top: ArrayLike, radius: float | None = None) -> None:
        """Something of the world that stands on the ground and carries `top`."""
        end = np.asarray(top, dtype=float)
        self.add(bar((end[0], end[1], 0.0), end, radius or 5.0 * self._pixel, WORLD, sides=14, pieces=14))

    def ball(self, centre: ArrayLike, radius: float, colour: ArrayLike = BODY) -> None:
        """A ball."""
        self.add(ball(centre, radius, colour, sides=44))

    def wheel(self, centre: ArrayLike, axis: ArrayLike, radius: float, angle: float = 0.0) -> None:
        """A wheel about `axis`."""
        first, second = _perpendicular(np.asarray(axis, dtype=float))
        turned = np.cos(angle) * first + np.sin(angle) * second
        across = np.cross(axis, turned)
        self.add(wheel(np.array((centre, radius * turned, radius * across)), WORLD, thickness=0.1, sides=10, spokes=3))

    def ring(self, centre: ArrayLike, axis: ArrayLike, radius: float, colour: ArrayLike = WORLD) -> None:
        """A thin ring about `axis`."""
        first, second = _perpendicular(np.asarray(axis, dtype=float))
        angles = np.linspace(0.0, 2.0 * np.pi, 49)[:, None]
        line = np.asarray(centre) + radius * (np.cos(angles) * first + np.sin(angles) * second)
        self.add(tube(line, 3.0 * self._pixel, colour, sides=10, closed=True))

    # ------------------------------------------------------------------------------------------------ drawn over it

    def _at(self, places: ArrayLike) -> np.ndarray:
        return self._camera.project(np.asarray(places, dtype=float))[0] * FINER

    def line(self, places: ArrayLike, colour: ArrayLike = HELD, width: float = 2.0, dashed: bool = False) -> None:
        """A line through `places` (n, 3), m."""
        path = self._at(places)
        steps = np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))))
        dash, gap = (9.0 * FINER, 6.0 * FINER) if dashed else (steps[-1] + 1.0, 0.0)
        at = 0.0
        while at < steps[-1]:
            inner = steps[(steps > at) & (steps < at + dash)]
            stations = np.concatenate(([at], inner, [min(at + dash, steps[-1])]))
            piece = np.column_stack([np.interp(stations, steps, path[:, k]) for k in range(2)])
            self._draw.line(piece.reshape(-1).tolist(), fill=(*colour, 255), width=round(width * FINER), joint="curve")
            at += dash + gap

    def arc(self, centre: ArrayLike, axis: ArrayLike, start: ArrayLike, angle: float, colour: ArrayLike = HELD,
            head: bool = True) -> None:  # fmt: skip
        """An arc about `axis` that begins at `start` (from the centre, m) and turns by `angle` (rad)."""
        n = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
        first = np.asarray(start, dtype=float)
        angles = np.linspace(0.0, angle, 60)[:, None]
        places = np.asarray(centre) + np.cos(angles) * first + np.sin(angles) * np.cross(n, first)
        self.line(places, colour, 2.2)
        if head:
            self._head(self._at(places[-4:])[0], self._at(places[-4:])[-1], colour, 11.0)

    def _head(self, before: np.ndarray, tip: np.ndarray, colour: ArrayLike, size: float) -> None:
        along = (tip - before) / max(float(np.linalg.norm(tip - before)), 1e-9)
        side = np.array((-along[1], along[0]))
        end, root = tip + 0.45 * size * FINER * along, tip - 0.75 * size * FINER * along
        corners = [end, root + 0.45 * size * FINER * side, root - 0.45 * size * FINER * side]
        self._draw.polygon([tuple(c) for c in corners], fill=(*colour, 255))

    def arrow(self, start: ArrayLike, way: ArrayLike, name: str = "", colour: ArrayLike = FORCE,
              shift: tuple[float, float] = (10.0, -8.0), width: float = 3.2) -> None:  # fmt: skip
        """An arrow from `start` along `way` (m in the picture), with a `name` at its tip, shifted by pixels."""
        a, b = self._at([start, np.asarray(start) + np.asarray(way)])
        along = (b - a) / np.linalg.norm(b - a)
        stop = b - 7.0 * FINER * along
        self._draw.line((*a, *stop), fill=(*colour, 255), width=round(width * FINER))
        self._head(a, b - 5.5 * FINER * along, colour, 15.0)
        if name:
            self.write(np.asarray(start) + np.asarray(way), name, shift, colour)

    def dot(self, place: ArrayLike, name: str = "", shift: tuple[float, float] = (10.0, -12.0)) -> None:
        """A point of a body or of the world, with its `name`."""
        x, y = self._at(place)
        r = 5.0 * FINER
        around, white = (x - r, y - r, x + r, y + r), (255, 255, 255, 255)
        self._draw.ellipse(around, fill=white, outline=(*INK, 255), width=2 * FINER)
        if name:
            self.write(place, name, shift, INK)

    def write(self, place: ArrayLike, text: str, shift: tuple[float, float] = (0.0, 0.0), colour: ArrayLike = INK,
              italic: bool = True, size: int = 23) -> None:  # fmt: skip
        """`text` beside `place`, shifted by pixels to the right and down."""
        x, y = self._at(place) + FINER * np.asarray(shift)
        main, _, low = text.partition("_")
        large, small = letters(italic, size * FINER), letters(False, round(0.6 * size * FINER))
        pieces = [(main, large, 0.0, 0.0), (low, small, 0.5 * large.getlength(main) + 4.0 * FINER, 6.0 * FINER)]
        for halo in (3 * FINER, 0):
            for word, font, right, down in pieces:
                self._draw.text((x + right, y + down), word, fill=(*colour, 255), font=font, anchor="mm",
                                stroke_width=halo, stroke_fill=(*PAPER, 235))  # fmt: skip

    def axis(self, centre: ArrayLike, direction: ArrayLike, before: float, after: float, name: str = "",
             shift: tuple[float, float] = (12.0, 0.0)) -> None:  # fmt: skip
        """A dashed line through `centre`, from `before` to `after` (m) along it, with its `name` at the end."""
        way = np.asarray(direction, dtype=float) / np.linalg.norm(direction)
        ends = np.asarray(centre) + np.outer((-before, after), way)
        self.line(ends, HELD, 1.8, dashed=True)
        if name:
            self.write(ends[1], name, shift, HELD)

    # -------------------------------------------------------------------------------------------------------- files

    def picture(self) -> Image.Image:
        """All of it."""
        picture = self._stage.frame(Facets.joined(self._parts))
        for facets, strength in self._glass:
            self._stage.shine_through(picture, facets, strength)
        over = self._layer.resize(SIZE, Image.Resampling.BOX)
        picture.paste(over.convert("RGB"), mask=over.getchannel("A"))
        return picture


def write(picture: Image.Image, path: Path) -> None:
    """Write a small file."""
    with replacing(path) as partial:
        picture.quantize(128, kmeans=1, dither=Image.Dither.NONE).save(partial, format="PNG", optimize=True)
