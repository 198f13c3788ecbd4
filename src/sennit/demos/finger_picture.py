"""The pictures of the finger: smooth skin with pressures in colour, bones that shine through, ball and probe."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

import sennit as sn
from sennit.demos.finger_mesh import BONE_RADIUS, LENGTHS, Finger
from sennit.elastostatics.surface import IntArray
from sennit.export.painting import Camera, Facets, Stage, StripChart, circle, font, loft
from sennit.export.solids import ball, floor, parallel_axes, ramp, tube
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from PIL.Image import Image

    from sennit.demos.finger import Model, Moment, Run

__all__ = ["Skin", "draw"]

_SIZE, _STILL = (720, 560), (396, 308)  # pixels: of a film and of one of the pictures of a sheet
_PANEL = 118  # pixels: height of the strip charts
_TABLE = (228, 231, 236)
_INK, _GREY = (45, 52, 62), (110, 118, 128)
_FLESH, _FOLD, _NAIL = (240, 190, 162), (214, 142, 120), (255, 220, 208)
_BONE, _STEEL, _RED = (264, 264, 258), (150, 158, 170), (196, 40, 44)
_HIGHEST = 35e3  # Pa, shown in red
_TIP = sum(LENGTHS) + 0.004  # m along the straight finger


class Skin:
    """The skin of all pads as one smooth surface: each face is drawn as four, curved after its corners' normals."""

    def __init__(self, finger: Finger) -> None:
        joined, count = [], 0
        for pad in finger.pads:
            joined.append(count + np.arange(len(pad.vertices)))
            count += len(pad.vertices)
        for k, (a, b) in enumerate(finger.seams):  # both sides of a seam are one vertex
            joined[k + 1][b] = joined[k][a]
        faces = np.concatenate([ids[pad.faces[pad.skin]] for ids, pad in zip(joined, finger.pads, strict=True)])
        used, faces = np.unique(faces, return_inverse=True)
        self._faces: IntArray = faces.reshape(-1, 3)
        source = np.full(count, -1)
        for k, ids in list(enumerate(joined))[::-1]:
            source[ids] = np.arange(len(ids)) + sum(len(pad.vertices) for pad in finger.pads[:k])
        self._source = source[used]
        sides = np.sort(self._faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
        self._edges, back = np.unique(sides, axis=0, return_inverse=True)
        a, b, c = self._faces.T
        ab, bc, ca = back.reshape(-1, 3).T + len(used)
        self._fine = np.concatenate([np.column_stack(t) for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
        straight = np.concatenate([pad.straight for pad in finger.pads])[self._source]
        self._tint = self._tinted(straight)
        self._nail = self._nail_weights(straight)

    @staticmethod
    def _tinted(straight: FloatArray) -> FloatArray:
        """Colours of the vertices without pressure: darker in the folds at the joints, pinker at tip and palm."""
        x, angle = straight.T
        palm = 0.5 - 0.5 * np.cos(angle)
        folds = sum(np.exp(-(((x - at) / 1.6e-3) ** 2)) for at in np.cumsum(LENGTHS)[:2]) * (0.30 + 0.35 * palm)
        pink = 0.22 * palm + 0.30 * np.clip((x - _TIP + 0.018) / 0.018, 0.0, 1.0)
        part = np.clip(folds + pink, 0.0, 1.0)[:, None]
        return np.asarray((1.0 - part) * np.array(_FLESH) + part * np.array(_FOLD))

    def _nail_weights(self, straight: FloatArray) -> tuple[IntArray, FloatArray, tuple[int, int]]:
        """Vertices and weights that make a grid of places on the back of the tip."""
        u, v = np.meshgrid(np.linspace(-1.0, 1.0, 13), np.linspace(-1.0, 1.0, 13), indexing="ij")
        wide = (1.0 - np.abs(u) ** 3.2) ** 0.5
        x = _TIP - 8.4e-3 + 6.3e-3 * u
        angle = 0.86 * v * (0.35 + 0.65 * wide) * np.where(u > 0.0, wide**0.8 + 1e-3, 1.0)
        places = np.column_stack((x.ravel(), 6.6e-3 * angle.ravel()))
        flat = np.column_stack((straight[:, 0], 6.6e-3 * ((straight[:, 1] + math.pi) % (2.0 * math.pi) - math.pi)))
        corners = flat[self._faces]
        whole = np.ptp(corners[:, :, 1], axis=1) < 0.02  # not across the palm, where the angle jumps
        faces, corners = self._faces[whole], corners[whole]
        a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
        area = _cross(b - a, c - a)
        ids, weights = np.empty((len(places), 3), dtype=np.int64), np.empty((len(places), 3))
        for k, p in enumerate(places):
            shares = np.column_stack((_cross(b - p, c - p), _cross(c - p, a - p), _cross(a - p, b - p))) / area[:, None]
            best = int(np.argmax(shares.min(axis=1)))
            ids[k], weights[k] = faces[best], shares[best]
        return ids, weights, u.shape

    def coarse(self, positions: Sequence[FloatArray]) -> Facets:
        """The skin as flat faces, which do for its shadow."""
        corners = np.concatenate(positions)[self._source][self._faces[:, [0, 1, 2, 2]]]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        return Facets(corners, normals, np.zeros((len(corners), 3)), np.zeros(len(corners)))

    def facets(self, positions: Sequence[FloatArray], pressures: Sequence[FloatArray]) -> tuple[Facets, Facets]:
        """The skin with vertices of all pads at `positions`, coloured by `pressures`, Pa; and the nail on it."""
        points = np.concatenate(positions)[self._source]
        pressure = np.concatenate(pressures)[self._source]
        a, b, c = (points[self._faces[:, k]] for k in range(3))
        crosses = np.cross(b - a, c - a)
        normals = np.zeros_like(points)
        for k in range(3):
            np.add.at(normals, self._faces[:, k], crosses)
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        first, second = self._edges.T
        p, q, m, n = points[first], points[second], normals[first], normals[second]
        middle = 0.5 * (p + q)
        bulge = np.einsum("ij,ij->i", middle - p, m)[:, None] * m + np.einsum("ij,ij->i", middle - q, n)[:, None] * n
        points = np.concatenate((points, middle - 0.35 * bulge))
        normals = np.concatenate((normals, _unit(m + n)))
        pressure = np.concatenate((pressure, 0.5 * (pressure[first] + pressure[second])))
        tint = np.concatenate((self._tint, 0.5 * (self._tint[first] + self._tint[second])))
        part = np.clip(pressure / (0.10 * _HIGHEST), 0.0, 1.0)[:, None]
        colours = (1.0 - part) * tint + part * ramp(pressure, 0.0, _HIGHEST)
        colours = colours * (1.0 + 0.75 * np.clip(-normals[:, 2:], 0.0, 1.0))  # the table throws light back
        fine = self._fine
        skin = Facets(
            points[fine[:, [0, 1, 2, 2]]], _unit(normals[fine].sum(axis=1)), colours[fine].mean(axis=1),
            np.full(len(fine), 0.16),
        )  # fmt: skip
        ids, weights, shape = self._nail
        grid = np.einsum("kc,kci->ki", weights, points[ids])
        up = _unit(np.einsum("kc,kci->ki", weights, normals[ids]))
        grid, up = (grid + 2e-4 * up).reshape(*shape, 3), up.reshape(*shape, 3)

        def quads(values: FloatArray) -> FloatArray:
            parts = (values[:-1, :-1], values[1:, :-1], values[1:, 1:], values[:-1, 1:])
            return np.stack(parts, axis=2).reshape(-1, 4, 3)

        corners, shine = quads(grid), _unit(quads(up).mean(axis=1))
        pale = np.tile(np.array(_NAIL, dtype=np.float64), (len(corners), 1))
        pale[-2 * (shape[1] - 1) :] = (250, 236, 226)
        return skin, Facets(corners, shine, pale, np.full(len(corners), 0.55))


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])


def _unit(vectors: FloatArray) -> FloatArray:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300))


# --------------------------------------------------------------------------------------------------------- the things


def _bones(poses: Sequence[sn.Pose]) -> Facets:
    """The three bones: round heads at the joints, thinner shafts; the first begins in the clamp."""
    parts = []
    for k, (pose, length) in enumerate(zip(poses, LENGTHS, strict=True)):
        heads = 0.95 * BONE_RADIUS
        round_off = heads * np.cos(np.linspace(0.1, 1.5, 6))
        begin = np.zeros(1) if k == 0 else -round_off
        end = length - heads + round_off[::-1] if k == 2 else length - 0.3e-3 * np.arange(4)[::-1]
        x = np.unique(np.concatenate((begin, np.linspace(0.0, length - heads, 14), end)))
        away = np.minimum(np.abs(x), np.abs(x - length)) / 6e-3
        size = heads * (0.76 + 0.24 * np.exp(-(away**2)))
        size *= np.sqrt(np.clip(1.0 - (np.minimum(x, 0.0) / heads) ** 2, 0.0, 1.0))
        if k == 2:
            size *= np.sqrt(np.clip(1.0 - (np.maximum(x - length + heads, 0.0) / heads) ** 2, 0.0, 1.0))
        centres = pose @ np.column_stack((x, 0.0 * x, 0.0 * x))
        parts.append(tube(centres, size, _BONE, sides=28, gloss=0.25))
    return Facets.joined(parts)


def _stand(centre: FloatArray, radius: float) -> Facets:
    """The ball on a stand."""
    heights = np.array((0.0, 0.0015, 0.002, 0.5 * (centre[2] - radius), centre[2] - 0.93 * radius))
    sizes = np.array((0.0095, 0.0095, 0.0035, 0.0030, 0.0058))
    centres = np.column_stack((np.full(5, centre[0]), np.full(5, centre[1]), heights))
    x, y = np.outer(sizes, (1.0, 0.0, 0.0)), np.outer(sizes, (0.0, 1.0, 0.0))
    stand = loft(centres, x, y, circle(28), (118, 124, 134), gloss=0.3, capped=True)
    return Facets.joined((stand, ball(centre, radius, (52, 104, 128), sides=52, gloss=0.9)))


def _probe(probed: FloatArray) -> Facets:
    """A stylus whose round tip rests on the skin, held a little askew."""
    tip, normal = probed
    way = _unit((normal + np.array((0.95, -0.1, 0.15)))[None])[0]
    along = np.array((0.0, 0.0008, 0.002, 0.006, 0.011, 0.012, 0.03, 0.05))
    sizes = np.array((0.0004, 0.0011, 0.0014, 0.0016, 0.0018, 0.0032, 0.0034, 0.0034))
    centres = tip + along[:, None] * way
    colours = np.array([_STEEL] * 5 + [(66, 72, 84)] * 3, dtype=np.float64)
    return tube(centres, sizes, colours, sides=16, gloss=0.6)


def _arrow(start: FloatArray, force: FloatArray, scale: float) -> Facets:
    """An arrow of `scale` m/N that ends at `start`, along `force`."""
    size = float(np.linalg.norm(force))
    way = force / size
    length = scale * size
    head = min(0.0045, 0.5 * length)
    along = np.array((-length, -0.5 * (length + head), -head, -head + 1e-5, -1e-4))
    radii = np.array((0.155, 0.155, 0.155, 0.42, 2e-3)) * head
    centres = start + along[:, None] * way
    first, second = parallel_axes(np.stack((centres[0], centres[0] + way)))
    return loft(
        centres, radii[:, None] * first[0], radii[:, None] * second[0], circle(14), _RED, gloss=0.2, capped=True
    )


# -------------------------------------------------------------------------------------------------------- the pictures


def draw(
    model: Model, run: Run, chosen: Sequence[int], *, still: bool, progress: Callable[[int], None] | None = None
) -> list[Image]:
    """The pictures `chosen` of those that `run` shows, small and without charts if `still`."""
    from PIL import ImageDraw

    width, height = size = _STILL if still else _SIZE
    seen = height if still else height - _PANEL
    stage = _stage(size, seen)
    skin = Skin(model.finger)
    moments = [run.moments[k] for k in run.shown]
    panels = []
    if not still:
        ImageDraw.Draw(stage.picture).rectangle((0, seen, width, height), fill=(255, 255, 255))
        bend = np.degrees([moment.angles[1] for moment in moments])
        pressed = np.array([float(np.linalg.norm(moment.ball)) for moment in moments])
        touched = np.array([float(np.linalg.norm(moment.probe)) for moment in moments])
        listed = (
            ("middle joint", "deg", ".0f", bend, (92, 98, 110)),
            ("on the ball", "N", ".2f", pressed, (0, 114, 140)),
            ("by the probe", "N", ".2f", touched, _RED),
        )
        wide = (width - 24) / len(listed)
        for k, (name, unit, digits, values, colour) in enumerate(listed):
            box = (round(24 + k * wide), seen + 12, round((k + 1) * wide), height - 18)
            panels.append(StripChart(box, name, unit, digits, values, colour))
            panels[-1].draw_on(stage.picture)
    below = stage.picture.crop((0, seen, width, height))
    inset = _Inset(skin, still)
    letters = font(14 if still else 17)
    frames = []
    for done, k in enumerate(chosen, 1):
        moment = moments[k]
        things = _things(moment)
        shadows = Facets.joined((things, skin.coarse(moment.positions)))
        soft, nail = skin.facets(moment.positions, moment.pressures)
        frame = stage.frame(Facets.joined((things, soft)), casting=shadows)
        stage.shine_through(frame, nail, 0.9)
        stage.shine_through(frame, _bones(moment.poses), 0.6)
        if _loaded(moment):
            stage.shine_through(frame, _arrows(moment), 1.0)
        frame.paste(below, (0, seen))  # shadows may fall on it
        if moment.ball.any():
            inset.put_on(frame, moment, seen)
        pen = ImageDraw.Draw(frame)
        pen.text((20, 16), f"{run.times[run.shown[k]]:.2f} s", fill=_INK, font=letters, anchor="la")
        pen.text((20 + 4 * (14 if still else 17), 16), _caption(moment), fill=_INK, font=letters, anchor="la")
        for panel in panels:
            panel.draw_at(frame, k)
        frames.append(frame)
        if progress is not None:
            progress(done)
    return frames


def _caption(moment: Moment) -> str:
    if np.linalg.norm(moment.ball) > 0.0:
        if moment.slipping > 0.99:
            return "it slips on the ball"
        return "it presses a ball" if moment.slipping < 0.6 else "it begins to slip"
    if moment.probe.any():
        return "a probe touches it"
    return "three soft pads on three bones"


def _loaded(moment: Moment) -> bool:
    return max(float(np.linalg.norm(moment.ball)), float(np.linalg.norm(moment.probe))) > 0.03


def _arrows(moment: Moment) -> Facets:
    """What the finger does to the ball, and what the probe does to the finger."""
    from sennit.demos.finger import BALL, BALL_RADIUS

    parts = []
    if np.linalg.norm(moment.probe) > 0.03:
        parts.append(_arrow(moment.probed[0], moment.probe, 0.017))
    if np.linalg.norm(moment.ball) > 0.03:
        way = moment.ball / np.linalg.norm(moment.ball)
        parts.append(_arrow(BALL + 0.15 * BALL_RADIUS * way + np.array((0.0, -BALL_RADIUS, 0.0)), -moment.ball, 0.014))
    return Facets.joined(parts)


def _things(moment: Moment) -> Facets:
    """What is not soft."""
    from sennit.demos.finger import BALL, BALL_RADIUS

    parts = [_stand(BALL, BALL_RADIUS), _knuckle(moment.poses[0])]
    if moment.probed[0, 2] < 0.115:  # else it is above the picture
        parts.append(_probe(moment.probed))
    return Facets.joined(parts)


def _knuckle(pose: sn.Pose) -> Facets:
    """The clamp that holds the first bone, where the hand would be."""
    x = np.array((-0.010, -0.009, -0.0008, -0.0004))
    size = np.array((0.0082, 0.0096, 0.0096, 0.0092))
    centres = pose @ np.column_stack((x, 0.0 * x, 0.0 * x))
    return tube(centres, size, (96, 102, 114), sides=40, gloss=0.3)


def _stage(size: tuple[int, int], height: int) -> Stage:
    """A table, seen from the front and a little above."""
    width = size[0]
    camera = Camera(
        (0.066, -0.44, 0.120), (0.040, 0.0, 0.0445), size=size, width=0.093 * width / height,
        centre=(0.5, 0.5 * height / size[1]),
    )  # fmt: skip
    ground = floor(camera, (-1.4, -0.30), (1.5, 1.0))
    stage = Stage(camera, _TABLE, ground)
    stage.finish()
    return stage


class _Inset:
    """The pad of the last bone, seen from the palm: what the ball does to it."""

    def __init__(self, skin: Skin, still: bool) -> None:
        from PIL import ImageDraw

        self._size = (122, 84) if still else (216, 150)
        self._letters = font(10 if still else 12)
        camera = Camera((0.010, -0.5, 0.0), (0.010, 0.0, 0.0), size=self._size, width=0.034, centre=(0.5, 0.44))
        nowhere = np.array(((0.0, 2.0, 0.0), (1e-6, 2.0, 0.0), (0.0, 2.0, 1e-6)))
        self._stage = Stage(camera, (255, 255, 255), nowhere)
        self._stage.finish()
        pen = ImageDraw.Draw(self._stage.picture)
        low = self._size[1]
        for k, colour in enumerate(ramp(np.linspace(0.0, 1.0, 40), 0.0, 1.0).round().astype(int).tolist()):
            pen.line((8 + k, low - 14, 8 + k, low - 8), fill=tuple(colour))
        text = f"0 to {1e-3 * _HIGHEST:.0f} kPa" + ("" if still else ", from below")
        pen.text((54, low - 11), text, fill=_GREY, font=self._letters, anchor="lm")
        self._skin = skin

    def put_on(self, frame: Image, moment: Moment, bottom: int) -> None:
        """Draw it into the left corner of `frame` above `bottom`."""
        from PIL import ImageDraw

        back = moment.poses[2].inverse()
        seen = [(back @ places)[:, [0, 2, 1]] * (1.0, 1.0, -1.0) for places in moment.positions]
        facets, _ = self._skin.facets(seen, moment.pressures)
        near = (facets.corners[:, :, 0] > -0.012).all(axis=1)
        facets = Facets(facets.corners[near], facets.normals[near], facets.colours[near], facets.gloss[near])
        picture = self._stage.frame(facets)
        pen = ImageDraw.Draw(picture)
        low = self._size[1]
        pen.rectangle((0, 0, self._size[0] - 1, low - 1), outline=(200, 205, 212))
        frame.paste(picture, (14, bottom - self._size[1] - 12))
