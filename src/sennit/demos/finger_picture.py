"""The pictures of the finger: smooth skin with pressures in colour, bones that shine through, ball and probe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

import sennit as sn
from sennit.demos.finger_mesh import Finger
from sennit.demos.finger_skin import NAIL, Cover, bone, knuckle, probe, stand
from sennit.demos.props import placed
from sennit.export.painting import Camera, Facets, Stage, StripChart, circle, font, loft
from sennit.export.solids import floor, parallel_axes, ramp
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from PIL.Image import Image

    from sennit.demos.finger import Model, Moment, Run

__all__ = ["Skin", "draw"]

_SIZE, _STILL = (720, 560), (396, 308)  # pixels: of a film and of one of the pictures of a sheet
_PANEL = 118  # pixels: height of the strip charts
_BAND = 30  # pixels: height of the line that is written between picture and charts
_TABLE = (228, 231, 236)
_INK, _GREY = (45, 52, 62), (110, 118, 128)
_RED = (196, 40, 44)
_HIGHEST = 35e3  # Pa, shown in red


class Skin(Cover):
    """The skin as it is painted: each face is drawn as four, curved after its corners' normals."""

    def __init__(self, finger: Finger) -> None:
        super().__init__(finger)
        sides = np.sort(self.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
        self._edges, back = np.unique(sides, axis=0, return_inverse=True)
        a, b, c = self.faces.T
        ab, bc, ca = back.reshape(-1, 3).T + len(self.source)
        self._fine = np.concatenate([np.column_stack(t) for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])

    def coarse(self, positions: Sequence[FloatArray]) -> Facets:
        """The skin as flat faces, which do for its shadow."""
        corners = self.joined(positions)[self.faces[:, [0, 1, 2, 2]]]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        return Facets(corners, normals, np.zeros((len(corners), 3)), np.zeros(len(corners)))

    def facets(self, positions: Sequence[FloatArray], pressures: Sequence[FloatArray]) -> tuple[Facets, Facets]:
        """The skin with vertices of all pads at `positions`, coloured by `pressures`, Pa; and the nail on it."""
        points = self.joined(positions)
        pressure = self.joined(pressures)
        a, b, c = (points[self.faces[:, k]] for k in range(3))
        crosses = np.cross(b - a, c - a)
        normals = np.zeros_like(points)
        for k in range(3):
            np.add.at(normals, self.faces[:, k], crosses)
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        first, second = self._edges.T
        p, q, m, n = points[first], points[second], normals[first], normals[second]
        middle = 0.5 * (p + q)
        bulge = np.einsum("ij,ij->i", middle - p, m)[:, None] * m + np.einsum("ij,ij->i", middle - q, n)[:, None] * n
        points = np.concatenate((points, middle - 0.35 * bulge))
        normals = np.concatenate((normals, _unit(m + n)))
        pressure = np.concatenate((pressure, 0.5 * (pressure[first] + pressure[second])))
        tint = np.concatenate((self.tint, 0.5 * (self.tint[first] + self.tint[second])))
        part = np.clip(pressure / (0.10 * _HIGHEST), 0.0, 1.0)[:, None]
        colours = (1.0 - part) * tint + part * ramp(pressure, 0.0, _HIGHEST)
        colours = colours * (1.0 + 0.75 * np.clip(-normals[:, 2:], 0.0, 1.0))  # the table throws light back
        fine = self._fine
        skin = Facets(
            points[fine[:, [0, 1, 2, 2]]], _unit(normals[fine].sum(axis=1)), colours[fine].mean(axis=1),
            np.full(len(fine), 0.16),
        )  # fmt: skip
        ids, weights, shape = self.nail
        grid = np.einsum("kc,kci->ki", weights, points[ids])
        up = _unit(np.einsum("kc,kci->ki", weights, normals[ids]))
        grid, up = (grid + 2e-4 * up).reshape(*shape, 3), up.reshape(*shape, 3)

        def quads(values: FloatArray) -> FloatArray:
            parts = (values[:-1, :-1], values[1:, :-1], values[1:, 1:], values[:-1, 1:])
            return np.stack(parts, axis=2).reshape(-1, 4, 3)

        corners, shine = quads(grid), _unit(quads(up).mean(axis=1))
        pale = np.tile(np.array(NAIL, dtype=np.float64), (len(corners), 1))
        pale[-2 * (shape[1] - 1) :] = (250, 236, 226)
        return skin, Facets(corners, shine, pale, np.full(len(corners), 0.55))


def _unit(vectors: FloatArray) -> FloatArray:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300))


# --------------------------------------------------------------------------------------------------------- the things


def _bones(poses: Sequence[sn.Pose]) -> Facets:
    """The three bones."""
    return Facets.joined([placed(bone(k), pose) for k, pose in enumerate(poses)])


def _probe(probed: FloatArray) -> Facets:
    """The stylus with its tip on the skin, held a little askew."""
    tip, normal = probed
    return placed(probe(), sn.Pose.along(tip, normal + np.array((0.95, -0.1, 0.15))))


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
    seen = height - _BAND - (0 if still else _PANEL)
    stage = _stage(size, seen)
    skin = Skin(model.finger)
    moments = [run.moments[k] for k in run.shown]
    panels = []
    ImageDraw.Draw(stage.picture).rectangle((0, seen, width, height), fill=(255, 255, 255))
    if not still:
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
            box = (round(24 + k * wide), seen + _BAND + 8, round((k + 1) * wide), height - 18)
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
        pen.text((20, seen + _BAND // 2), f"{run.times[run.shown[k]]:.2f} s", fill=_INK, font=letters, anchor="lm")
        place = (20 + 4 * (14 if still else 17), seen + _BAND // 2)
        pen.text(place, _caption(moment), fill=_INK, font=letters, anchor="lm")
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

    parts = [stand(BALL, BALL_RADIUS), placed(knuckle(), moment.poses[0])]
    if moment.probed[0, 2] < 0.115:  # else it is above the picture
        parts.append(_probe(moment.probed))
    return Facets.joined(parts)


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
