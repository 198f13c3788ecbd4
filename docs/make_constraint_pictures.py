"""Makes the pictures of constraints anew: ``uv run python docs/make_constraint_pictures.py``, or with names for some.

Each is a scene that was settled or run, painted in software, with what the constraint holds in blue and what it applies
in red, read from the constraint itself: arrows of one picture have one scale.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path

from pictures_of_places import align, clamp, fix, follow, onaxis, oncircle, onplane, onsphere
from pictures_of_ties import (
    ball_joint,
    cable,
    distance,
    fuse,
    hinge,
    keyhole,
    load,
    needle,
    nest,
    pearl,
    prismatic,
    screw,
    sheave,
    slider,
)
from PIL import Image, ImageDraw
from sketching import INK, Sketch, letters, write

import sennit

TITLES = {name.lower(): name for name in sennit.__all__}
"""Names of classes, by those of their pictures."""
IMAGES = Path(__file__).parent / "images" / "constraints"

PICTURES: dict[str, Callable[[], Sketch]] = {
    "fix": fix,
    "clamp": clamp,
    "align": align,
    "follow": follow,
    "onplane": onplane,
    "onaxis": onaxis,
    "onsphere": onsphere,
    "oncircle": oncircle,
    "distance": distance,
    "fuse": fuse,
    "ball": ball_joint,
    "hinge": hinge,
    "prismatic": prismatic,
    "screw": screw,
    "slider": slider,
    "keyhole": keyhole,
    "needle": needle,
    "nest": nest,
    "pearl": pearl,
    "cable": cable,
    "sheave": sheave,
    "load": load,
}


def overview() -> Image.Image:
    """All pictures, small, with their names."""
    width, height, columns, gap = 216, 123, 4, 10
    rows = math.ceil(len(PICTURES) / columns)
    sheet = Image.new("RGB", (columns * (width + gap) - gap, rows * (height + 30) - 6), (255, 255, 255))
    for k, (name, make) in enumerate(PICTURES.items()):
        left, top = k % columns * (width + gap), k // columns * (height + 30)
        small = make().picture().resize((width, height), Image.Resampling.LANCZOS)
        sheet.paste(small, (left, top))
        ImageDraw.Draw(sheet).text(
            (left + width / 2, top + height + 11), TITLES[name], fill=INK, font=letters(False, 13), anchor="mm"
        )
    return sheet


def main(names: list[str]) -> None:
    """Make the pictures called `names`, or all; ``overview`` is all of them on one."""
    known = [*PICTURES, "overview"]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"no picture is called {unknown[0]!r}: {', '.join(known)}")
    IMAGES.mkdir(exist_ok=True)
    for name in names or known:
        path = IMAGES / f"{name}.png"
        write(overview() if name == "overview" else PICTURES[name]().picture(), path)
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
