"""Recordings as one table of numbers over time, .csv: a row for each place in each frame.

Columns: ``time_s``; ``name`` and ``kind`` of what it is: "tube" (a rod or a cable), "solid", "surface" (a zone),
"constraint", "load"; ``station``, the number of the place along a tube or of the vertex of a surface; ``x_m y_m z_m``;
then, as far as anything has them, ``qw qx qy qz`` of solids; ``curvature_per_m twist_rad_per_m tension_N pressure_Pa
displacement_m``; ``force_x_N …`` and ``torque_x_Nm …`` of constraints on their first point, of cables on each of their
points, of loads; those of constraints are of the last step, and 0 before the first. What something does not have is
empty. What is hidden or switched off, marks, obstacles and decor have no rows.

Lengths are in metres, world frame; numbers have a decimal point and give the same bits when they are read.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sennit.export.recording import Recording
from sennit.portrait.parts import Solid

__all__ = ["write_csv"]

_PLACE = ("x_m", "y_m", "z_m")
_TURN = ("qw", "qx", "qy", "qz")
_FIELDS = {
    "curvature": "curvature_per_m",
    "twist": "twist_rad_per_m",
    "tension": "tension_N",
    "pressure": "pressure_Pa",
    "displacement": "displacement_m",
}
_ACTING = (*(f"force_{axis}_N" for axis in "xyz"), *(f"torque_{axis}_Nm" for axis in "xyz"))


def write_csv(recording: Recording, path: Path, each: Callable[[int, int], object] | None = None) -> None:
    """Write a recording to `path`; the columns are listed at the top of this file."""
    parts = [recording.cast.parts[k] for k in recording.things]
    turning = _TURN if any(isinstance(part, Solid) for part in parts) else ()
    fields = [name for name in _FIELDS if any(name in getattr(part, "fields", ()) for part in parts)]
    acting = _ACTING if recording.forces else ()
    columns = ("time_s", "name", "kind", "station", *_PLACE, *turning, *(_FIELDS[name] for name in fields), *acting)
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(columns)
        for k, time in enumerate(recording.times.tolist()):
            for name, kind, station, numbers in _places(recording, k, len(turning), fields, len(acting)):
                rows.writerow((time, name, kind, station, *("" if x != x else x for x in numbers)))
            if each is not None:
                each(k + 1, len(recording))


def _places(
    recording: Recording, frame: int, turning: int, fields: list[str], acting: int
) -> Iterator[tuple[str, str, Any, list[float]]]:
    """Name, kind, station and numbers of each row of one frame; NaN where there is none."""
    names, views = recording.names, recording.cast.views(recording.frames[frame])
    width = 3 + turning + len(fields) + acting
    for k in recording.things:
        part, view = recording.cast.parts[k], views[k]
        if view.shown[0] <= 0.5:
            continue
        if isinstance(part, Solid):
            row = np.full(width, np.nan)
            row[:3], row[3:7] = view.position, view.quaternion
            yield names[k], part.kind, "", row.tolist()
            continue
        table = np.full((part.count, width), np.nan)
        table[:, :3] = part.places(view)
        for j, name in enumerate(fields, 3 + turning):
            if name in part.fields:
                table[:, j] = view.fields[name]
        for station, numbers in enumerate(table.tolist()):
            yield names[k], part.kind, station, numbers
    for track in recording.forces:
        if track.places[frame, 0] == track.places[frame, 0]:
            row = np.full(width, np.nan)
            row[:3] = track.places[frame]
            row[-6:-3], row[-3:] = track.forces[frame], track.torques[frame]
            yield track.name, track.kind, "", row.tolist()
