"""A small painter for demonstrations: shaded facets in perspective, a soft shadow, strip charts and picture files.

It needs Pillow (``pip install 'sennit[export]'``) and no display. Lengths are in metres, places in pictures in pixels
from the top left corner, colours (red, green, blue) from 0 to 255.
"""

from __future__ import annotations

import importlib
import math
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike
from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont

from sennit.export.facets import LIGHT, Facets, circle, loft
from sennit.export.files import replacing
from sennit.validation import FloatArray

__all__ = [
    "Camera",
    "Facets",
    "Stage",
    "StripChart",
    "circle",
    "contact_sheet",
    "font",
    "gif_palette",
    "loft",
    "write_picture",
]

Colour = tuple[int, int, int]

_FINER = 3  # facets are drawn this many times larger, and averaged


class Camera:
    """Where a picture is taken from.

    Arguments: `eye` and `target`, (3,), m, with z up in the picture; `size`, its width and height in pixels; `width`,
    how many metres at the target's distance fill its width; `centre`, where in the picture the target is, as fractions.
    """

    def __init__(
        self,
        eye: ArrayLike,
        target: ArrayLike,
        *,
        size: tuple[int, int],
        width: float,
        centre: tuple[float, float] = (0.5, 0.5),
    ) -> None:
        self.eye = np.asarray(eye, dtype=np.float64)
        self.size = size
        ahead = np.asarray(target, dtype=np.float64) - self.eye
        distance = float(np.linalg.norm(ahead))
        ahead /= distance
        right = np.cross(ahead, (0.0, 0.0, 1.0))
        right /= np.linalg.norm(right)
        self._axes = np.stack((right, -np.cross(right, ahead), ahead))
        self._focus = size[0] * distance / width
        self._middle = np.array((size[0] * centre[0], size[1] * centre[1]))

    @property
    def ahead(self) -> tuple[float, float, float]:
        """The unit direction that it looks in."""
        x, y, z = self._axes[2].tolist()
        return x, y, z

    def project(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Pixels (..., 2) and distances ahead of the eye (...), m, of `points` (..., 3)."""
        seen = (points - self.eye) @ self._axes.T
        depth = seen[..., 2]
        return self._middle + self._focus * seen[..., :2] / depth[..., None], depth


class Stage:
    """What stays the same from frame to frame: the camera, the ground at z = 0 and what lies on it.

    Arguments: `camera`; `backdrop`, the colour behind everything; `ground`, (n, 3), m, the corners of the flat piece at
    z = 0 that takes the shadows; `shadow`, the colour that these tend to.
    """

    def __init__(self, camera: Camera, backdrop: Colour, ground: FloatArray, shadow: Colour = (70, 20, 30)) -> None:
        self.camera = camera
        self._shadow = shadow
        self._large = Image.new("RGB", self._finer(), backdrop)
        self._ground = Image.new("L", camera.size)
        ImageDraw.Draw(self._ground).polygon(_flat(camera.project(ground)[0]), fill=255)

    def _finer(self) -> tuple[int, int]:
        width, height = self.camera.size
        return width * _FINER, height * _FINER

    def polygon(self, points: FloatArray, colour: Colour) -> None:
        """Paint the polygon `points`, (n, 3), m, over what is there."""
        ImageDraw.Draw(self._large).polygon(_flat(self.camera.project(points)[0] * _FINER), fill=colour)

    def sky(self, top: Colour, low: Colour) -> None:
        """Paint the sky over the backdrop, from `low` at the horizon to `top`, and let the ground fade into it."""
        x, y, _ = self.camera.ahead
        far = self.camera.eye + 1e3 * np.array((x, y, 0.0)) / max(math.hypot(x, y), 1e-9)
        horizon = float(self.camera.project(far)[0][1]) * _FINER if math.hypot(x, y) > 0.02 else -1e6
        width, height = self._large.size
        rows = np.arange(height) - horizon
        rise = 1.0 - np.exp(2.2 * np.minimum(rows, 0.0) / height)
        colours = np.array(low) + rise[:, None] * (np.array(top, dtype=np.float64) - low)
        strip = Image.fromarray(np.round(colours).astype(np.uint8)[:, None]).resize((width, height))
        haze = np.where(rows < 0.0, 1.0, np.exp(-np.square(np.maximum(rows, 0.0) / (0.16 * height))))
        mask = Image.fromarray(np.round(255.0 * haze).astype(np.uint8)[:, None]).resize((width, height))
        self._large.paste(strip, mask=mask)

    def facets(self, facets: Facets) -> None:
        """Paint `facets` over what is there."""
        self._draw(self._large, facets)

    def finish(self) -> None:
        """Say that the stage is complete; then call `frame`."""
        self._small = self._large.reduce(_FINER)

    def label(self, place: tuple[float, float], text: str, size: int, colour: Colour, anchor: str = "ls") -> None:
        """Write `text` at a pixel of the finished stage; `anchor` as in Pillow."""
        ImageDraw.Draw(self._small).text(place, text, fill=colour, font=font(size), anchor=anchor)

    @property
    def picture(self) -> Image.Image:
        """The finished stage, to be drawn on before the first frame."""
        return self._small

    def frame(
        self, facets: Facets, ghost: FloatArray | None = None, strength: float = 0.0, casting: Facets | None = None
    ) -> Image.Image:
        """A picture of `facets` on the stage; `ghost`, (n, 3), m, is a line left faintly behind them.

        `casting`: what casts the shadows, by default the facets; coarser ones do, and are quicker.
        """
        picture = self._small.copy()
        shade = Image.new("L", self.camera.size)
        draw = ImageDraw.Draw(shade)
        thrown = facets if casting is None else casting
        lit = thrown.corners[thrown.normals @ LIGHT > 0.0]
        fallen, depths = self.camera.project(lit - lit[..., 2:] / LIGHT[2] * LIGHT)
        for corners in fallen[depths.min(axis=1) > 0.0].reshape(-1, 8).tolist():
            draw.polygon(corners, fill=92)
        shade = ImageChops.multiply(shade.filter(ImageFilter.GaussianBlur(self.camera.size[0] / 280)), self._ground)
        picture.paste(self._shadow, mask=shade)
        if ghost is not None and strength > 0.0:
            line = Image.new("L", self.camera.size)
            path = _flat(self.camera.project(ghost)[0])
            width = max(2, self.camera.size[0] // 220)
            ImageDraw.Draw(line).line(path, fill=round(150 * strength), width=width, joint="curve")
            picture.paste((60, 90, 150), mask=line.filter(ImageFilter.GaussianBlur(0.8)))
        large = picture.resize(self._finer(), Image.Resampling.NEAREST)
        self._draw(large, facets)
        return large.reduce(_FINER)

    def shine_through(self, picture: Image.Image, facets: Facets, strength: float) -> None:
        """Paint `facets` over `picture`, a frame of this stage, 0 to 1 strong: what is there shines through."""
        places = self.camera.project(facets.corners)[0].reshape(-1, 2)
        left, top = np.maximum(np.floor(places.min(axis=0)).astype(int) - 1, 0).tolist()
        right, bottom = np.minimum(np.ceil(places.max(axis=0)).astype(int) + 2, picture.size).tolist()
        if right <= left or bottom <= top:
            return
        before = picture.crop((left, top, right, bottom))
        large = before.resize((_FINER * before.width, _FINER * before.height), Image.Resampling.NEAREST)
        self._draw(large, facets, (left, top))
        picture.paste(Image.blend(before, large.reduce(_FINER), strength), (left, top))

    def _draw(self, picture: Image.Image, facets: Facets, corner: tuple[int, int] = (0, 0)) -> None:
        """Paint facets that face the eye, the farthest first, on a `picture` whose corner is at that pixel."""
        places, depths = self.camera.project(facets.corners)
        facing = np.einsum("ij,ij->i", facets.normals, self.camera.eye - facets.corners[:, 0]) > 0.0
        order = np.flatnonzero(facing & (depths.min(axis=1) > 0.0))  # a floor may reach behind the eye
        order = order[np.argsort(-depths[order].mean(axis=1), kind="stable")]
        outlines = ((places[order] - corner) * _FINER).reshape(-1, 8).tolist()
        colours = facets.shaded(self.camera.eye)[order].round().astype(int).tolist()
        draw = ImageDraw.Draw(picture)
        for outline, colour in zip(outlines, colours, strict=True):
            draw.polygon(outline, fill=tuple(colour))


class StripChart:
    """A curve over the time of the whole film, with a dot at the present.

    Arguments: `box`, left, top, right, bottom in pixels; `name` and `unit` of the values, and the `digits` they are
    written with, such as ".2f"; `values`, (n,), evenly spaced in time; `colour`.
    """

    def __init__(
        self, box: tuple[int, int, int, int], name: str, unit: str, digits: str, values: FloatArray, colour: Colour
    ) -> None:
        left, top, right, bottom = box
        self._name, self._unit, self._values, self._colour, self._box = name, unit, values, colour, box
        self._digits = digits
        span = max(float(values.max()), 1e-300)
        x = np.linspace(left, right, len(values))
        y = bottom - (bottom - top - 26) * values / span
        self._curve = np.column_stack((x, y))

    def draw_on(self, picture: Image.Image) -> None:
        """Draw what stays: the axis and the whole curve, faintly."""
        left, _, right, bottom = self._box
        draw = ImageDraw.Draw(picture)
        draw.line((left, bottom, right, bottom), fill=(170, 176, 184), width=1)
        draw.line(_flat(self._curve), fill=(200, 205, 212), width=2, joint="curve")

    def draw_at(self, picture: Image.Image, index: int) -> None:
        """Draw the curve up to sample `index`, the dot there, and its value."""
        left, top, _, _ = self._box
        draw = ImageDraw.Draw(picture)
        if index > 0:
            draw.line(_flat(self._curve[: index + 1]), fill=self._colour, width=2, joint="curve")
        x, y = self._curve[index]
        draw.ellipse((x - 4, y - 4, x + 4, y + 4), fill=self._colour)
        text = f"{self._name}  {self._values[index]:{self._digits}} {self._unit}"
        draw.text((left, top), text, fill=(45, 52, 62), font=font(15), anchor="la")


def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Pillow's own typeface, `size` pixels high. It has no letters beyond plain ones: no µ, no ×."""
    return ImageFont.load_default(size)


def contact_sheet(frames: Sequence[Image.Image], columns: int, gap: int = 6) -> Image.Image:
    """`frames`, all of one size, in rows of `columns`, on white."""
    width, height = frames[0].size
    rows = math.ceil(len(frames) / columns)
    sheet = Image.new("RGB", (columns * (width + gap) - gap, rows * (height + gap) - gap), (255, 255, 255))
    for k, frame in enumerate(frames):
        sheet.paste(frame, (k % columns * (width + gap), k // columns * (height + gap)))
    return sheet


def write_picture(path: str | os.PathLike[str], frames: Sequence[Image.Image], fps: float, columns: int = 3) -> None:
    """Write `frames` to a .gif or an .mp4 that plays `fps` of them a second, or to a .png with all of them.

    The file is replaced once everything is on disk. Raises `OSError` when that fails.
    """
    target = Path(path)
    with replacing(target) as partial:
        if target.suffix.lower() == ".gif":
            _write_gif(partial, frames, fps)
        elif target.suffix.lower() == ".mp4":
            _write_mp4(partial, frames, fps)
        else:
            contact_sheet(frames, min(columns, len(frames))).save(partial, format="PNG", optimize=True)


def _write_gif(path: Path, frames: Sequence[Image.Image], fps: float) -> None:
    """One palette serves all frames: what does not change has the same colour throughout, and is stored once."""
    chosen = [frames[k] for k in sorted({round(x) for x in np.linspace(0, len(frames) - 1, 9)})]
    palette = gif_palette(chosen)
    indexed = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    duration = max(20, 10 * round(100 / fps))  # ms: GIF counts in hundredths of a second, and players want two
    indexed[0].save(path, format="GIF", save_all=True, append_images=indexed[1:], duration=duration, loop=0)


def gif_palette(frames: Sequence[Image.Image]) -> Image.Image:
    """A picture with 255 colours that suit `frames`: thin lines count for more than their pixels, planes for less."""
    pixels = np.concatenate([np.asarray(frame)[::2, ::2].reshape(-1, 3) for frame in frames]).astype(np.uint32)
    codes, counts = np.unique(pixels @ np.array((65536, 256, 1), dtype=np.uint32), return_counts=True)
    listed = np.repeat(codes, np.ceil(np.sqrt(counts)).astype(np.intp))
    colours = np.stack((listed >> 16, listed >> 8 & 255, listed & 255), axis=-1).astype(np.uint8)
    return Image.fromarray(colours[None]).quantize(255, method=Image.Quantize.MEDIANCUT, kmeans=2)


def _write_mp4(path: Path, frames: Sequence[Image.Image], fps: float) -> None:
    ffmpeg = importlib.import_module("imageio_ffmpeg")
    stream = ffmpeg.write_frames(str(path), frames[0].size, fps=fps, macro_block_size=2, quality=8)
    stream.send(None)
    try:
        for frame in frames:
            stream.send(frame.tobytes())
    finally:
        stream.close()


def _flat(points: FloatArray) -> list[float]:
    flat: list[float] = points.reshape(-1).tolist()
    return flat
