"""Makes the pictures of constraints anew: ``uv run python docs/make_constraint_pictures.py``, or with names for some.

Each is a scene that was settled or run, painted in software, with what the constraint holds in blue and what it applies
in red, read from the constraint itself: arrows of one picture have one scale.
"""

from __future__ import annotations

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
    pearl,
    prismatic,
    sheave,
    slider,
)
from sketching import Sketch

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
    "slider": slider,
    "keyhole": keyhole,
    "pearl": pearl,
    "cable": cable,
    "sheave": sheave,
    "load": load,
}


def main(names: list[str]) -> None:
    """Make the pictures called `names`, or all."""
    unknown = [name for name in names if name not in PICTURES]
    if unknown:
        raise SystemExit(f"no picture is called {unknown[0]!r}: {', '.join(PICTURES)}")
    IMAGES.mkdir(exist_ok=True)
    for name in names or PICTURES:
        path = IMAGES / f"{name}.png"
        PICTURES[name]().save(path)
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
