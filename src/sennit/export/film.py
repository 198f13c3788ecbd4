"""Recordings as films, .mp4 and .gif, and as stills, .png: painted in software, without a display.

Needs Pillow, and imageio-ffmpeg for .mp4 (``pip install 'sennit[export]'``). The camera stands where all that moves
fits into the picture; ropes too thin to be seen are drawn two pixels wide.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sennit.export.framing import drift_of, fitting_eye, floor_of, room_of
from sennit.export.recording import Recording
from sennit.geometry.rotations import quaternion_to_matrix
from sennit.portrait.colours import shade
from sennit.portrait.meshing import corner_normals, tangents, vertex_normals
from sennit.portrait.parts import Solid, Surface, Tube
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from PIL.Image import Image

    from sennit.export.facets import Facets
    from sennit.export.painting import Camera, Stage

__all__ = ["Painter", "write_film", "write_still"]

FILM, GIF, STILL = (960, 640), (600, 400), (1440, 960)  # pixels
PAPER, SKY, FLOOR = (222, 230, 238), (150, 184, 222), (204, 203, 199)
BAND, _STRIP = (250, 250, 251), 32  # colour and height (pixels) of what is written on
SHADOW = (38, 46, 58)
INK, GREY = (45, 52, 62), (110, 118, 128)
_SLOPE = 0.42
"""How far to the sides a picture reaches at a distance of 1: a lens that does not distort."""
_PAGE_SLOPE = math.tan(math.radians(22.5))
"""How far up and down cameras of pages reach at a distance of 1."""
_THINNEST = 1.1  # pixels
_FLAT = np.array([(1, -1), (1, -0.3), (1, 0.3), (1, 1), (-1, 1), (-1, 0.3), (-1, -0.3), (-1, -1)], dtype=np.float64)
"""Outline of a flat tube, (8, 2), with room for stripes on its wide sides."""
_PIECE = 0.06
"""Longest edge of a facet over the size of the picture's content: facets are sorted by their middles."""


def write_film(recording: Recording, path: Path, each: Callable[[int, int], object] | None = None) -> None:
    """Write a recording to `path`, .mp4 or .gif, which plays as fast as it happened."""
    if path.suffix.lower() == ".gif":
        _write_gif(recording, path, each)
    else:
        _write_mp4(recording, path, each)


def write_still(recording: Recording, path: Path, each: Callable[[int, int], object] | None = None) -> None:
    """Write the last frame of a recording to `path`, .png: the camera fits what is seen then."""
    last = replace(recording, times=recording.times[-1:], frames=recording.frames[-1:])
    Painter(last, STILL).picture(0).save(path, format="PNG")
    if each is not None:
        each(1, 1)


def _write_mp4(recording: Recording, path: Path, each: Callable[[int, int], object] | None) -> None:
    import imageio_ffmpeg

    painter = Painter(recording, FILM)
    stream = imageio_ffmpeg.write_frames(
        str(path), FILM, fps=recording.fps, macro_block_size=2, quality=8, ffmpeg_log_level="error"
    )
    stream.send(None)
    try:
        for k in range(len(recording)):
            stream.send(painter.picture(k).tobytes())
            if each is not None:
                each(k + 1, len(recording))
    finally:
        stream.close()


def _write_gif(recording: Recording, path: Path, each: Callable[[int, int], object] | None) -> None:
    """At most 30 pictures a second. A picture lasts a whole number of hundredths of a second: which, is chosen so that
    the errors do not add up. One palette serves all pictures, so that what does not change is stored once.
    """
    from PIL.Image import Dither

    from sennit.export.painting import gif_palette

    painter = Painter(recording, GIF)
    step = max(1, math.ceil(recording.fps / 30.0 - 1e-9))
    kept = list(range(0, len(recording), step))
    ends = np.round(100.0 * step / recording.fps * np.arange(len(kept) + 1)).astype(int)
    durations = [10 * max(2, int(d)) for d in np.diff(ends)]
    sample = [kept[k] for k in sorted({round(x) for x in np.linspace(0, len(kept) - 1, 9)})]
    palette = gif_palette([painter.picture(k) for k in sample])

    def pictures() -> Iterator[Image]:
        for done, k in enumerate(kept):
            yield painter.picture(k).quantize(palette=palette, dither=Dither.NONE)
            if each is not None:
                each(done + 1, len(kept))

    rest = pictures()
    first = next(rest)
    first.save(path, format="GIF", save_all=True, append_images=rest, duration=durations, loop=0)


class Painter:
    """Paints the frames of a recording.

    Arguments: `recording`; `size` of the pictures, pixels; `field`, by which bodies that have it are coloured (low
    values blue, high ones yellow or red), by default their own colours; `captions`, whether title and time are written.
    """

    def __init__(
        self, recording: Recording, size: tuple[int, int], *, field: str | None = None, captions: bool = True
    ) -> None:
        self._recording, self._size, self._field, self._captions = recording, size, field, captions
        low, high = room_of(recording)
        self._reach = max(float(np.linalg.norm(high - low)), 1e-9)
        self._floor = floor_of(recording)
        # The painter's ground is at z = 0: everything is moved by this, m.
        ground = low[2] - 0.002 * self._reach if recording.ground is None else recording.ground
        if self._floor is not None:
            ground = self._floor[1]
        self._shift = np.array((0.0, 0.0, -ground))
        self._seen = size[1] - (_STRIP if captions else 0)  # what is written stands below the picture, not in it
        aspect = size[0] / self._seen
        slope = _SLOPE if recording.camera is None else _PAGE_SLOPE * aspect
        self._eye, self._target = fitting_eye(recording, (0.91 * slope, 0.84 * slope / aspect))
        self._drift = drift_of(recording)
        distance = float(np.linalg.norm(self._eye - self._target))
        self._pixel = 2.0 * slope * distance / size[0]  # m, at the target
        self._middle = 0.5 * (low + high)
        self._range = _range(recording, field)
        self._makers = [self._maker(part) for part in recording.cast.parts]
        self._stage = self._set_stage(np.zeros(3))

    @property
    def _camera(self) -> Camera:
        return self._stage.camera

    def _set_stage(self, drift: FloatArray) -> Stage:
        """The ground, and a floor on it, seen by a camera that has moved by `drift`, m."""
        from sennit.export.painting import Camera, Stage
        from sennit.export.solids import floor

        eye, target = (place + self._shift + drift for place in (self._eye, self._target))
        width = self._pixel * self._size[0]
        camera = Camera(eye, target, size=self._size, width=width, centre=(0.5, 0.5 * self._seen / self._size[1]))
        wide, middle = 12.0 * self._reach, self._middle
        ground = np.zeros((0, 3))
        if eye[2] > 0.0:
            ground = floor(camera, (middle[0] - wide, middle[1] - wide), (middle[0] + wide, middle[1] + wide))
        if len(ground) < 3:  # seen from below, or out of sight
            ground = np.tile(2.0 * target - eye, (3, 1))
        stage = self._stage = Stage(camera, PAPER, ground, shadow=SHADOW)  # what is painted below asks for the camera
        stage.polygon(ground, FLOOR)
        stage.sky(SKY, PAPER)
        if self._floor is not None:  # under the shadows
            number = self._floor[0]
            stage.facets(self._makers[number](self._recording.cast.views(self._recording.frames[0])[number]))
        stage.finish()
        return stage

    def picture(self, frame: int) -> Image:
        """Frame number `frame` as a picture."""
        from PIL import ImageDraw

        from sennit.export.facets import Facets
        from sennit.export.painting import font

        solid: list[tuple[float, Facets]] = []
        clear: list[tuple[float, Facets]] = []
        if self._drift.any():
            self._stage = self._set_stage(self._drift[frame])
        numbers = self._recording.frames[frame]
        cast = self._recording.cast
        floor = -1 if self._floor is None else self._floor[0]
        for k, (part, view, make) in enumerate(zip(cast.parts, cast.views(numbers), self._makers, strict=True)):
            if view.shown[0] > 0.5 and k != floor:
                (solid if part.opacity >= 1.0 else clear).append((part.opacity, make(view)))
        none = Facets(np.zeros((0, 4, 3)), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0))
        picture = self._stage.frame(Facets.joined([none, *(facets for _, facets in solid)]))
        for opacity, facets in clear:
            self._stage.shine_through(picture, facets, opacity)
        if self._captions:
            pen, line = ImageDraw.Draw(picture), self._seen + 0.5 * _STRIP
            pen.rectangle((0, self._seen, *self._size), fill=BAND)
            pen.text((14, line), self._recording.title, fill=INK, font=font(15), anchor="lm")
            place = (self._size[0] - 14, line)
            pen.text(place, f"{self._recording.times[frame]:.2f} s", fill=GREY, font=font(15), anchor="rm")
        return picture

    # ------------------------------------------------------------------------------------------------------- parts

    def _maker(self, part: Any) -> Callable[[Any], Facets]:
        """What makes the facets of a part from its view."""
        if isinstance(part, Tube):
            return self._tube_maker(part)
        return self._mesh_maker(part)

    def _colours(self, view: Any) -> FloatArray | None:
        values = getattr(view, "fields", {}).get(self._field)
        return None if values is None else shade(values, *self._range).astype(np.float64)

    def _tube_maker(self, part: Tube) -> Callable[[Any], Facets]:
        from sennit.export.facets import Facets, circle, loft

        half = np.maximum(part.half, _THINNEST * self._pixel)
        own = np.ones(1) if part.widths is None else part.widths
        widths = np.maximum(own[:, None] * part.half, _THINNEST * self._pixel)
        if part.rectangular:
            outline = _FLAT if half[0] < half[1] else np.column_stack((-_FLAT[:, 1], _FLAT[:, 0]))
            striped = [1, 5]
        else:
            seen = float(half.max()) / self._pixel
            outline = circle(6 if seen < 2.5 else 10 if seen < 12.0 else 16)
            striped = [0, len(outline) // 2]
        sides = np.tile(np.asarray(part.colour, dtype=np.float64), (len(outline), 1))
        if part.stripe is not None:
            sides[striped] = part.stripe

        def make(view: Any) -> Facets:
            centres = view.centres + self._shift
            d1, d2 = view.directors, np.cross(tangents(view.centres, part.closed), view.directors)
            d2 /= np.maximum(np.linalg.norm(d2, axis=1, keepdims=True), 1e-9)
            shown = self._colours(view)
            across = widths[:, :1] * d1, widths[:, 1:] * d2
            facets = loft(centres, *across, outline, sides, gloss=0.35, capped=not part.closed)
            if shown is None:
                return facets
            along = np.repeat(0.5 * (shown[:-1] + shown[1:]), len(outline), axis=0)
            ends = [] if part.closed else [np.repeat(shown[[0, -1]], len(outline), axis=0)]
            return Facets(facets.corners, facets.normals, np.concatenate((along, *ends)), facets.gloss)

        return make

    def _mesh_maker(self, part: Any) -> Callable[[Any], Facets]:
        from sennit.export.facets import Facets

        rest = part.vertices if isinstance(part, Solid) else self._first_vertices(part)
        smooth = isinstance(part, Surface) or part.smooth
        longest = _PIECE * self._reach
        if smooth:  # a facet has one shade: small ones make a round surface
            longest = min(longest, max(9.0 * self._pixel, 0.06 * float(np.ptp(rest, axis=0).max())))
        finer, parents = _split(rest, part.faces, longest)
        middles = finer.mean(axis=1)
        still = corner_normals(part.vertices, part.faces)[parents] if isinstance(part, Solid) and smooth else None
        colours = np.asarray(part.colour, dtype=np.float64)
        face_colours = getattr(part, "face_colours", None)
        painted = np.broadcast_to(colours if face_colours is None else face_colours[parents], (len(finer), 3))
        open_mesh = not _is_closed(part.faces)
        gloss = np.full(len(finer), 0.5 if isinstance(part, Solid) and smooth else 0.12)

        def make(view: Any) -> Facets:
            places = part.places(view)
            corners = np.einsum("fkc,fcx->fkx", finer, places[part.faces[parents]]) + self._shift
            if still is not None:
                turned = still @ quaternion_to_matrix(view.quaternion).T
                normals = np.einsum("fc,fcx->fx", middles, turned)
            elif smooth:
                normals = np.einsum("fc,fcx->fx", middles, vertex_normals(places, part.faces)[part.faces[parents]])
            else:
                normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
            normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
            if open_mesh:  # seen from both sides
                away = np.einsum("fx,fx->f", normals, self._camera.eye - corners[:, 0]) < 0.0
                normals[away] *= -1.0
            shown = self._colours(view)
            tones = painted
            if shown is not None:
                tones = np.einsum("fc,fcx->fx", middles, shown[part.faces[parents]])
            quads = np.concatenate((corners, corners[:, 2:]), axis=1)
            return Facets(quads, normals, tones, gloss)

        return make

    def _first_vertices(self, part: Surface) -> FloatArray:
        at = next(k for k, other in enumerate(self._recording.cast.parts) if other is part)
        return np.asarray(self._recording.track(at).vertices[0])


def _range(recording: Recording, field: str | None) -> tuple[float, float]:
    """The range of a field in the whole recording."""
    from sennit.portrait.colours import field_range

    if field is None:
        return 0.0, 1.0
    each = np.array([field_range(recording.cast, frame, field) for frame in recording.frames])
    return float(each[:, 0].min()), float(each[:, 1].max())


def _split(vertices: FloatArray, faces: NDArray[np.int64], longest: float) -> tuple[FloatArray, NDArray[np.int64]]:
    """Cut triangles until no edge is longer than `longest`, m, into four at a time, six times at most.

    Returns weights (m, 3, 3) that give the corners of each piece from those of the face it is part of, and which face.
    """
    pieces = np.tile(np.eye(3), (len(faces), 1, 1))
    parents = np.arange(len(faces))
    for _ in range(6):
        corners = np.einsum("fkc,fcx->fkx", pieces, vertices[faces[parents]])
        edges = np.linalg.norm(corners - np.roll(corners, -1, axis=1), axis=2).max(axis=1, initial=0.0)
        large = edges > longest
        if not large.any():
            break
        a, b, c = pieces[large].transpose(1, 0, 2)
        ab, bc, ca = 0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a)
        quarters = [np.stack(each, axis=1) for each in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]
        pieces = np.concatenate((pieces[~large], *quarters))
        parents = np.concatenate((parents[~large], *(4 * [parents[large]])))
    return pieces, parents


def _is_closed(faces: NDArray[np.int64]) -> bool:
    """Whether every edge belongs to two faces."""
    edges = np.sort(np.concatenate((faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]])), axis=1)
    _, counts = np.unique(edges, axis=0, return_counts=True)
    return bool((counts == 2).all())
