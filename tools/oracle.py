"""Oracle of the scene core: the same programs on two trees, everything that a user can read compared byte by byte.

    python tools/oracle.py dump old.npz --kernels python --tree OLD       # OLD: the root of another checkout
    python tools/oracle.py dump new.npz --kernels python                  # this one
    python tools/oracle.py compare old.npz new.npz                        # exit 1 and the first differences, with sizes

Cases: all demonstrations with a scene, in their own integrator and in the two others; every constraint between every
two kinds of points (rod, discrete rod, closed rod, rigid body, slider, zone, world), stepped, settled, saved, loaded
and continued; random programs of ``tests/references`` (add, remove, switch, move, snapshot, settle). Only public names
of sennit are used; a case that raises is compared by its error's text. Readings that one tree alone has are left out.

Which products are fused into sums depends on what the compiler inlines, so that a change of calls alone moves last
bits. ``--kernels python`` (plain Python: nothing is compiled, 12 ms a step of a small scene) and ``--kernels strict``
(compiled without fused products, in a cache of its own) have none: there a change of arithmetic alone is a difference.
``--every 8``: each eighth case. ``--only TEXT``: cases whose names hold it.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import importlib
import itertools
import json
import math
import os
import re
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

READERS = {"frames": (9,), "curvatures": (9,), "tensions": (9,), "velocities": (9,), "jacobian": ()}
LEADS_ELSEWHERE = {
    "scene",
    "body",
    "rod",
    "slider",
    "hole",
    "on",
    "points",
    "point",
    "entries",
    "around",
    "greens",
    "report",
    "state",
    "name",
    "section",
    "material",
}
NUMBERED = re.compile(r"(?<=[A-Za-z]) \d+")  # "hinge 12": counted per process


def plain(value: Any) -> Any:
    """A value as nested lists of arrays, numbers and texts."""
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, bool | int | float | np.generic):
        return np.asarray(value)
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return [plain(v) for _, v in sorted(value.items())]
    if dataclasses.is_dataclass(value):
        return [plain(getattr(value, f.name)) for f in dataclasses.fields(value) if f.name != "subjects"]
    if hasattr(value, "quaternion"):
        return [plain(value.position), plain(value.quaternion)]
    return NUMBERED.sub("", str(value)) if isinstance(value, str) else None


def flat(value: Any, out: list[bytes], numbers: list[np.ndarray]) -> None:
    """The bytes of nested lists, and their numbers."""
    if isinstance(value, list):
        for entry in value:
            flat(entry, out, numbers)
    elif isinstance(value, np.ndarray):
        out.append(value.dtype.str.encode() + str(value.shape).encode() + np.ascontiguousarray(value).tobytes())
        if value.dtype.kind in "fiub":
            numbers.append(value.astype(float).ravel())
    elif value is not None:
        out.append(str(value).encode())


def readable(scene: Any) -> dict[str, Any]:
    """All that can be read of a scene, by name."""
    found: dict[str, Any] = {}
    names = ("time", "energy", "linear_momentum", "angular_momentum", "dofs", "multipliers", "events", "report")
    for name in names:
        found[f"scene.{name}"] = plain(getattr(scene, name))
    things = [(f"body {i}", x) for i, x in enumerate(scene.bodies)]
    for i, constraint in enumerate(scene.constraints):
        things.append((f"constraint {i}", constraint))
        things += [(f"constraint {i} point {j}", x) for j, x in enumerate(constraint.points)]
        wheels = [x for x in getattr(constraint, "entries", ()) if type(x).__name__ == "Sheave"]
        things += [(f"constraint {i} sheave {j}", x) for j, x in enumerate(wheels)]
    things += [(f"load {i}", x) for i, x in enumerate(scene.loads)]
    for what, thing in things:
        kind = type(thing)
        for name in dir(kind):
            if name.startswith("_") or name in LEADS_ELSEWHERE:
                continue
            member = getattr(kind, name)
            try:
                if isinstance(member, property):
                    found[f"{what} {kind.__name__}.{name}"] = plain(getattr(thing, name))
                elif name in READERS and callable(member):
                    found[f"{what} {kind.__name__}.{name}"] = plain(getattr(thing, name)(*READERS[name]))
            except Exception as refused:
                found[f"{what} {kind.__name__}.{name}"] = f"{type(refused).__name__}: {NUMBERED.sub('', str(refused))}"
    return found


class Record:
    """What a case gave: a digest of every reading at every look, and the numbers of the last one."""

    def __init__(self) -> None:
        self.looks: list[dict[str, str]] = []
        self.numbers: dict[str, np.ndarray] = {}

    def look(self, scene: Any) -> None:
        """Read everything once."""
        digests, self.numbers = {}, {}
        for name, value in readable(scene).items():
            out: list[bytes] = []
            numbers: list[np.ndarray] = []
            flat(value, out, numbers)
            digests[name] = hashlib.sha256(b"\0".join(out)).hexdigest()[:16]
            if numbers:
                self.numbers[name] = np.concatenate(numbers)
        self.looks.append(digests)


# ------------------------------------------------------------------------------------------------------------- cases


def demo(name: str, integrator: str | None, steps: int, record: Record) -> None:
    """A demonstration, stepped."""
    scene = importlib.import_module(f"sennit.demos.{name}").build()
    if not hasattr(scene, "bodies"):
        return
    if integrator:
        scene.integrator = integrator
    dt = 1e-3 if scene.integrator == "midpoint" else 5e-3
    for i in range(steps):
        scene.step(dt)
        if i in (0, 1, steps // 2) or i == steps - 1:
            record.look(scene)


def ends(sn: Any, scene: Any) -> dict[str, Any]:
    """A point of every kind, by name, in `scene`."""
    hemp = sn.Material(youngs_modulus=1e7, poisson_ratio=0.4, density=1000, relaxation_time=0.02)
    section = sn.Section.circle(radius=8e-3)
    rope = {"section": section, "material": hemp}
    straight = scene.add(sn.Rod.straight((0, 0, 1), (1, 0.1, 1.1), control_points=7, **rope))
    discrete = scene.add(sn.Rod.straight((0, 1, 1), (1, 1.1, 1.1), control_points=6, model="discrete", **rope))
    angle = np.linspace(0, 2 * math.pi, 9)[:-1]
    ring = np.stack((0.3 * np.cos(angle), 0.3 * np.sin(angle) + 2, 0.05 * np.cos(2 * angle)), axis=1)
    closed = scene.add(sn.Rod.through(ring, closed=True, control_points=10, **rope))
    box = scene.add(sn.RigidBody.box((0.2, 0.3, 0.4), mass=2.0, position=(2, 0, 1)))
    box.angular_velocity = (0.3, -0.2, 0.5)
    ball = scene.add(sn.RigidBody.sphere(0.1, mass=0.5, position=(2, 1, 1)))
    bead = scene.add(sn.Pearl(straight, 0.4, mass=0.1, radius=0.02))
    points = {
        "rod": straight.at(0.7), "discrete": discrete.at(0.6), "closed": closed.at(0.5), "rigid": box.at((0.1, 0, 0.1)),
        "ball": ball.at(), "slider": bead.at(), "world": sn.World.at((1.0, -0.5, 1.2)),
    }  # fmt: skip
    corners = np.array([[x, y, z] for x in (0, 0.1) for y in (0, 0.1) for z in (0, 0.1)])
    from scipy.spatial import ConvexHull

    hull = ConvexHull(corners)
    faces = hull.simplices.copy()
    for face, equation in zip(faces, hull.equations, strict=True):
        a, b, c = corners[face]
        if np.cross(b - a, c - a) @ equation[:3] < 0:
            face[1], face[2] = face[2], face[1]
    soft = sn.Material(youngs_modulus=5e4, poisson_ratio=0.4, density=1000, relaxation_time=0.05)
    zone = sn.Zone.from_mesh(corners, faces, fixed=np.flatnonzero(corners[:, 2] == 0), material=soft)
    scene.add(zone, on=box.at((0, 0, 0.2)))
    points["place"], points["patch"] = zone.at(1), zone.at((0.05, 0.05, 0.1), radius=0.08)
    return points


def _lifted(sn: Any, point: Any) -> Any:
    start = point.position
    return sn.Follow(point, lambda t: start + np.array((0.0, 0.0, t)), compliance=1e-4)


def kinds(sn: Any) -> dict[str, Any]:
    """Every constraint between two points."""
    z = (0.1, 0.2, 1.0)
    return {
        "Fix": lambda p, q: sn.Fix(p, p.position + 0.01),
        "Fix soft": lambda p, q: sn.Fix(p, compliance=1e-3, damping=3.0),
        "Clamp": lambda p, q: sn.Clamp(p),
        "Align": lambda p, q: sn.Align(p, z, of=q),
        "OnPlane": lambda p, q: sn.OnPlane(p, z, of=q),
        "OnPlane bound": lambda p, q: sn.OnPlane(p, z, bound="at_least", restitution=0.5),
        "OnAxis": lambda p, q: sn.OnAxis(p, z, of=q),
        "OnSphere": lambda p, q: sn.OnSphere(p, q, 0.5),
        "OnCircle": lambda p, q: sn.OnCircle(p, q, z, 0.5),
        "Follow": lambda p, q: _lifted(sn, p),
        "Distance": lambda p, q: sn.Distance(p, q),
        "String": lambda p, q: sn.Distance(p, q, bound="at_most", restitution=0.3),
        "Strut": lambda p, q: sn.Distance(p, q, bound="at_least", compliance=1e-3),
        "Ball": lambda p, q: sn.Ball(p, q),
        "Lock": lambda p, q: sn.Lock(p, q, angular_compliance=1e-2),
        "Hinge": lambda p, q: sn.Hinge(p, q, z, limits=(-0.2, 0.3)),
        "Hinge motor": lambda p, q: sn.Hinge(p, q, z, motor=sn.Motor(1.0, max_torque=5.0)),
        "Prismatic": lambda p, q: sn.Prismatic(p, q, z, limits=(-0.1, 0.1), motor=sn.Motor(0.2, max_force=5.0)),
        "Keyhole": lambda p, q: sn.Keyhole(p.body, 0.3, q, friction=0.2),
        "Cable": lambda p, q: sn.Cable([p, sn.Sheave(sn.World.at((1, 0.5, 3)), axis=(0, 1, 0), radius=0.1), q],
                                         section=sn.Section.circle(2e-3), material=sn.Material(1e9, 0.3, 2000.0)),
        "Load": lambda p, q: sn.Load(p, force=(1, 2, 3), torque=(0, 0.1, 0), follower=True),
    }  # fmt: skip


def pair(kind: str, first: str, second: str, integrator: str, steps: int, record: Record) -> None:
    """One constraint between two points: stepped and, in one integrator, settled, saved, loaded and continued."""
    import sennit as sn

    scene = sn.Scene(integrator=integrator, drag=0.1)
    points = ends(sn, scene)
    scene.add(kinds(sn)[kind](points[first], points[second]))
    for i in range(steps):
        scene.step(1e-3 if integrator == "midpoint" else 4e-3)
        if i in (0, steps - 1):
            record.look(scene)
    if integrator == "euler":
        kept = scene.snapshot()
        try:
            scene.settle(max_iterations=20, throw=False)
            record.look(scene)
        finally:
            scene.restore(kept)
        if kind != "Follow":
            with tempfile.TemporaryDirectory() as folder:
                scene.save(Path(folder) / "s.npz")
                loaded = sn.Scene.load(Path(folder) / "s.npz")
            loaded.step(4e-3)
            record.look(loaded)
        scene.step(4e-3)
        record.look(scene)


def random_program(seed: int, record: Record) -> None:
    """A program of the tests' random scenes."""
    from references import random_scenes
    from references.scene_runner import fresh_names, is_step, run_line

    names = fresh_names()
    for line in random_scenes.wild(seed, steps=12):
        refused = run_line(line, names)
        if is_step(line) or line.startswith("scene.settle"):
            record.look(names["scene"])
        if refused is not None:
            record.looks.append({line: NUMBERED.sub("", str(refused))[:200]})


def cases(args: argparse.Namespace) -> dict[str, Any]:
    """All cases by name."""
    import sennit as sn
    from sennit.demos import DEMOS

    found: dict[str, Any] = {}
    for name in DEMOS:
        for integrator in (None, "bdf2", "midpoint"):
            steps = args.demos if integrator is None else max(args.demos // 4, 2)
            found[f"demo {name} {integrator or 'own'}"] = lambda r, n=name, i=integrator, s=steps: demo(n, i, s, r)
    names = ("rod", "discrete", "closed", "rigid", "ball", "slider", "world", "place", "patch")
    count = itertools.count()
    for kind in kinds(sn):
        for first, second in itertools.permutations(names, 2):
            if first == "world" or (second not in ("rod", "rigid", "world", "slider") and first == "ball"):
                continue
            # each pair in one integrator, all three by turns; "euler" also settles, saves and loads
            integrator = ("euler", "bdf2", "midpoint")[next(count) % 3]
            key = f"pair {kind} {first} {second} {integrator}"
            found[key] = lambda r, k=kind, a=first, b=second, i=integrator: pair(k, a, b, i, args.pairs, r)
    for seed in range(args.random):
        found[f"random {seed}"] = lambda r, s=seed: random_program(1000 + s, r)
    return found


# ---------------------------------------------------------------------------------------------------- dump and compare


def dump(args: argparse.Namespace) -> int:
    """Run the cases and write what they gave."""
    sys.path[:0] = [str(args.tree / "src"), str(args.tree / "tests")]
    os.environ["SENNIT_KERNELS"] = args.kernels
    if args.kernels == "python":
        np.seterr(all="ignore")
        warnings.simplefilter("ignore")
    import sennit

    begin = time.perf_counter()
    looks: dict[str, Any] = {}
    arrays: dict[str, np.ndarray] = {}
    chosen = {k: v for k, v in cases(args).items() if args.only in k}
    chosen = {k: v for i, (k, v) in enumerate(chosen.items()) if i % args.every == 0}
    for name, case in chosen.items():
        record = Record()
        try:
            case(record)
        except Exception as refused:
            record.looks.append({"raised": f"{type(refused).__name__}: {NUMBERED.sub('', str(refused))}"})
        looks[name] = record.looks
        for key, value in record.numbers.items():
            arrays[f"{name}|{key}"] = value
    arrays["looks"] = np.frombuffer(json.dumps(looks).encode(), np.uint8)
    np.savez_compressed(args.file, **arrays)
    raised = sum("raised" in look[-1] for look in looks.values() if look)
    total = sum(len(look) for look in looks.values())
    readings = sum(len(entry) for look in looks.values() for entry in look)
    print(f"{len(looks)} cases ({raised} refused), {total} looks, {readings} readings, "
          f"{time.perf_counter() - begin:.0f} s, {Path(sennit.__file__).parent}")  # fmt: skip
    return 0


def _differing(x: dict[str, str], y: dict[str, str]) -> list[str]:
    """Readings that both have, and that differ; and whether one raised."""
    both = (set(x) & set(y)) | ({"raised"} & (set(x) | set(y)))
    return [key for key in sorted(both) if x.get(key) != y.get(key)]


def compare(args: argparse.Namespace) -> int:
    """Print where two files differ; 1 if they do."""
    with np.load(args.file) as old, np.load(args.other) as new:
        a, b = (json.loads(bytes(x["looks"]).decode()) for x in (old, new))
        wrong = 0
        for name in sorted(set(a) | set(b)):
            if name in a and name in b and len(a[name]) == len(b[name]):
                if not any(_differing(x, y) for x, y in zip(a[name], b[name], strict=True)):
                    continue
            wrong += 1
            if name not in a or name not in b:
                print(f"{name}: only in {'old' if name in a else 'new'}")
                continue
            for i, (x, y) in enumerate(itertools.zip_longest(a[name], b[name], fillvalue={})):
                keys = _differing(x, y)
                if keys:
                    print(f"{name}: look {i}: {len(keys)} of {len(x)} readings, first {keys[0]}")
                    if "raised" in keys:
                        print(f"    {x.get('raised')!r} -> {y.get('raised')!r}")
                    break
            worst = 0.0, ""
            for key in old.files:
                if key.startswith(f"{name}|") and key in new.files and old[key].shape == new[key].shape:
                    with np.errstate(all="ignore"):
                        gap = float(np.nanmax(np.abs(old[key] - new[key]) / (1.0 + np.abs(old[key])), initial=0.0))
                    worst = max(worst, (gap, key.partition("|")[2]))
            print(f"    largest difference at the end {worst[0]:.2g} ({worst[1]})")
        print(f"{len(a)} cases, {wrong} differ" if wrong else f"{len(a)} cases, all equal, byte by byte")
        return int(wrong > 0)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("dump")
    one.add_argument("file", type=Path)
    one.add_argument("--demos", type=int, default=40)
    one.add_argument("--pairs", type=int, default=6)
    one.add_argument("--random", type=int, default=40)
    one.add_argument("--only", default="")
    one.add_argument("--kernels", choices=("", "python", "strict"), default="", help="how they are run: SENNIT_KERNELS")
    one.add_argument("--every", type=int, default=1, help="only each so-manieth case")
    one.add_argument("--tree", type=Path, default=Path(__file__).parents[1], help="root of the checkout to run")
    two = commands.add_parser("compare")
    two.add_argument("file", type=Path)
    two.add_argument("other", type=Path)
    args = parser.parse_args()
    return dump(args) if args.command == "dump" else compare(args)


if __name__ == "__main__":
    sys.exit(main())
