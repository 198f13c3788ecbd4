"""Writes mujoco_contacts.json: distances and normals by MuJoCo's collider for random pairs of shapes.

    uv run --extra bench python tests/golden/make_mujoco_contacts.py

Each case has both shapes (kind, half sizes in MuJoCo's order, place, quaternion), the signed distance by
``mj_geomDistance``, and the normals and distances of ``mj_collision``'s contacts, normals from the second shape to the
first. Planes have no distance there: for them it is the smallest of the contacts'.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np

try:
    import mujoco
except ImportError:  # an extra: the tests, which look for examples in all files, run without it
    mujoco = None

KINDS = ("plane", "sphere", "capsule", "cylinder", "box")
CASES = 12
MARGIN = 0.05


def xml(shapes: list[dict[str, Any]]) -> str:
    bodies = ""
    for shape in shapes:
        size, place, turn = (" ".join(map(repr, shape[name])) for name in ("size", "place", "quaternion"))
        free = "" if shape["kind"] == "plane" else "<freejoint/>"
        size = "5 5 1" if shape["kind"] == "plane" else size
        geom = f'<geom type="{shape["kind"]}" size="{size}" margin="{0.5 * MARGIN}" pos="0 0 0"/>'
        bodies += f'<body pos="{place}" quat="{turn}">{free}{geom}</body>'
    return f'<mujoco><option ccd_tolerance="1e-9" ccd_iterations="200"/><worldbody>{bodies}</worldbody></mujoco>'


def random_shape(rng: Any, kind: str) -> dict[str, Any]:
    count = {"plane": 3, "sphere": 1, "capsule": 2, "cylinder": 2, "box": 3}[kind]
    turn = rng.standard_normal(4)
    return {
        "kind": kind,
        "size": np.round(rng.uniform(0.1, 0.4, count), 6).tolist(),
        "place": [0.0, 0.0, 0.0],
        "quaternion": (turn / np.linalg.norm(turn)).tolist(),
    }


def asked(shapes: list[dict[str, Any]]) -> dict[str, Any] | None:
    model = mujoco.MjModel.from_xml_string(xml(shapes))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    contacts = [data.contact[i] for i in range(data.ncon)]
    # MuJoCo's normal points from geom1 to geom2; ours from the second to the first.
    normals = [(-1.0 if c.geom1 == 0 else 1.0) * np.array(c.frame[:3]) for c in contacts]
    gaps = [float(c.dist) for c in contacts]
    if shapes[0]["kind"] == "plane":
        if not gaps:
            return None
        distance = min(gaps)
    else:
        distance = mujoco.mj_geomDistance(model, data, 0, 1, 1.0, None)
    if not -0.05 < distance < MARGIN:
        return None
    return {"shapes": shapes, "distance": distance, "gaps": gaps, "normals": [n.tolist() for n in normals]}


def main() -> None:
    rng = np.random.default_rng(0)
    cases = []
    for kinds in itertools.combinations_with_replacement(KINDS, 2):
        if kinds == ("plane", "plane"):
            continue
        left = CASES
        while left:
            shapes = [random_shape(rng, kind) for kind in kinds]
            way = rng.standard_normal(3)
            shapes[1]["place"] = (way / np.linalg.norm(way) * rng.uniform(0.1, 0.9)).round(6).tolist()
            case = asked(shapes)
            if case is not None:
                cases.append(case)
                left -= 1
    path = Path(__file__).with_name("mujoco_contacts.json")
    lines = ",\n".join(json.dumps(case) for case in cases)
    path.write_text(f'{{"mujoco": "{mujoco.__version__}", "margin": {MARGIN}, "cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
