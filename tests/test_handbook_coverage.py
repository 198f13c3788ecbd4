"""The handbook: no constraint, option or demonstration is missing, and what it prints is what the code does."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import sennit as sn
from sennit.bodies.slider.slider import Slider
from sennit.constraints.constraint import AbstractConstraint, across
from sennit.demos import DEMOS

DOCS = Path(__file__).parent.parent / "docs"
SHARED = {"Lock": "fuse", "Motor": "hinge"}
"""Classes whose page has another's name."""
KINDS = (AbstractConstraint, Slider, sn.Load, sn.Sheave, sn.Motor)
CLASSES = sorted(
    name for name in sn.__all__ if inspect.isclass(getattr(sn, name)) and issubclass(getattr(sn, name), KINDS)
)
PAGES = sorted({SHARED.get(name, name.lower()) for name in CLASSES})
LARGEST = 150_000  # bytes of a picture


def page_of(name: str) -> str:
    return (DOCS / "constraints" / f"{SHARED.get(name, name.lower())}.md").read_text(encoding="utf-8")


def options(name: str) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(getattr(sn, name)).parameters)


def table_of(text: str) -> dict[str, str]:
    """Default of each option, as the page's table tells it."""
    rows: dict[str, str] = {}
    for line in text.split("## Options")[1].split("\n## ")[0].splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 4:
            rows |= dict.fromkeys(re.findall(r"`(\w+)`", cells[0]), cells[1])
    return rows


def test_the_classes_are_found() -> None:
    assert {"Fix", "Keyhole", "Cable", "Lock", "Load", "Sheave", "Pearl", "Motor"} <= set(CLASSES)


@pytest.mark.parametrize("name", CLASSES)
def test_every_option_is_on_its_page(name: str) -> None:
    told = table_of(page_of(name)) if name not in SHARED else {}
    for option, parameter in options(name).items():
        assert f"`{option}`" in page_of(name), f"{name}({option}) is not explained"
        if option not in told:
            assert name in SHARED
            continue
        default = parameter.default
        if default is inspect.Parameter.empty:
            assert told[option] == "", f"{name}({option}) has no default, but {told[option]!r} is told"
        elif isinstance(default, bool):
            assert told[option] == f"`{default}`"
        elif isinstance(default, str):
            assert told[option] == f'`"{default}"`'
        elif isinstance(default, float | int):
            assert float(told[option]) == default
    assert set(told) <= set(options(name)), f"{name} has no such options: {set(told) - set(options(name))}"


@pytest.mark.parametrize("name", CLASSES)
def test_every_property_is_on_its_page(name: str) -> None:
    kind = getattr(sn, name)
    own = [key for key, value in vars(kind).items() if isinstance(value, property) and not key.startswith("_")]
    missing = [key for key in own if not re.search(rf"`(\w+\.)?{key}\b", page_of(name))]
    assert not missing


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_complete(page: str) -> None:
    text = (DOCS / "constraints" / f"{page}.md").read_text(encoding="utf-8")
    for heading in ("## Force", "## Options", "## Example", "## Mind", "## Related"):
        assert heading in text
    assert text.count("$$") >= 2, "it has no equation"
    program = re.findall(r"```python\n(.*?)```", text, re.S)
    assert program and all("assert " in part for part in program)
    pictures = re.findall(r"\{figure\} (\S+)", text)
    assert pictures
    for picture in pictures:
        assert (DOCS / "constraints" / picture).stat().st_size <= LARGEST
    index = (DOCS / "constraints" / "index.md").read_text(encoding="utf-8")
    assert re.search(rf"^{page}$", index, re.M) and f"<{page}>`" in index


def test_no_page_is_left_over() -> None:
    assert {path.stem for path in (DOCS / "constraints").glob("*.md")} == {*PAGES, "index"}
    assert {path.stem for path in (DOCS / "images" / "constraints").glob("*")} == {*PAGES, "overview"}


def test_every_demonstration_is_in_the_gallery() -> None:
    text = (DOCS / "demonstrations.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\w+)$", text, re.M) == list(DEMOS)
    for name, line in DEMOS.items():
        section = text.split(f"\n## {name}\n")[1].split("\n## ")[0]
        assert f"sennit demo {name}" in section and f"images/demos/{name}.png" in section
        assert (DOCS / "images" / "demos" / f"{name}.png").stat().st_size <= LARGEST
        for word in ("**Shown.**", "**Checked.**", "**To try.**"):
            assert word in section, f"{name} has no {word}"
        assert line
    assert {path.stem for path in (DOCS / "images" / "demos").glob("*")} == set(DEMOS)
    card = r'^:::\{grid-item-card\} (\w+)\n:img-top: images/demos/(\w+)\.png\n.*\n:link: "#(\w+)"$'
    cards = re.findall(card, text, re.M)
    assert cards == [(name, name, name) for name in DEMOS]


def test_every_how_to_has_a_card_with_its_picture() -> None:
    folder = DOCS / "howto"
    text = (folder / "index.md").read_text(encoding="utf-8")
    cards = re.findall(r"^:::\{grid-item-card\} (.+)\n:img-top: (.+)\n.*\n:link: (\w+)$", text, re.M)
    assert {link for _, _, link in cards} == {path.stem for path in folder.glob("*.md")} - {"index"}
    for title, picture, link in cards:
        assert (folder / f"{link}.md").read_text(encoding="utf-8").startswith(f"# {title}\n")
        assert (folder / picture).stat().st_size <= LARGEST


# ------------------------------------------------------------------------------------------------ rows, as printed


class Tied:
    """Two points of rigid bodies: how they were when a constraint was made, and how they are now."""

    def __init__(self, p: sn.Point, q: sn.Point) -> None:
        self.p, self.q = p, q
        self.x0, self.R0, self.y0, self.Q0 = p.position, p.frame, q.position, q.frame

    @property
    def gap(self) -> Any:
        return self.p.position - self.q.position

    def carried(self, direction: Any) -> Any:
        """A direction that q has carried along."""
        return self.q.frame @ self.Q0.T @ direction

    def with_p(self, direction: Any) -> Any:
        return self.p.frame @ self.R0.T @ direction

    def turned(self) -> Any:
        """(R_q e_i)·log(R_p Cᵀ R_qᵀ)."""
        wanted = self.q.frame @ self.Q0.T @ self.R0
        return self.q.frame.T @ Rotation.from_matrix(self.p.frame @ wanted.T).as_rotvec()


N = np.array((0.36, -0.48, 0.8))
A1, A2 = across(N)
PLACE = np.array((0.3, -0.2, 0.5))
POSE = sn.Pose(PLACE, (0.9, 0.3, -0.2, 0.1))


def angle(t: Tied, side: Any = A1) -> float:
    d, b, e = t.carried(N), t.with_p(side), t.carried(side)
    return float(np.arctan2(d @ np.cross(e, b), e @ b))


def tilted(t: Tied, axis: np.ndarray, own: np.ndarray) -> list[float]:
    """Components across `axis`, carried by q, of the angle to p's direction `own`."""
    across = (A1, A2)
    cosine = float(t.carried(axis) @ own)
    angle = math.acos(max(-1.0, min(1.0, cosine)))
    return [angle / math.sin(angle) * float(t.carried(a) @ own) for a in across]


def slid(t: Tied) -> float:
    return float(t.carried(N) @ t.gap - N @ (t.x0 - t.y0))


def screwed(t: Tied) -> float:
    return slid(t) + 0.4 / (2 * np.pi) * angle(t, t.Q0 @ across(t.Q0.T @ N)[0])


def clamped(t: Tied) -> Any:
    turn = Rotation.from_matrix(t.p.frame @ POSE.rotation.T).as_rotvec()
    return [*(t.p.position - PLACE), *(POSE.rotation.T @ turn)]


ROWS: dict[str, tuple[Callable[[Tied], Any], Callable[[Tied], Any]]] = {
    "fix": (lambda t: sn.Fix(t.p, PLACE), lambda t: t.p.position - PLACE),
    "clamp": (lambda t: sn.Clamp(t.p, POSE), clamped),
    "align": (
        lambda t: sn.Align(t.p, N, of=t.q),
        lambda t: tilted(t, N, t.p.frame[:, 2]),
    ),
    "follow": (lambda t: sn.Follow(t.p, lambda time: POSE), clamped),
    "plane": (
        lambda t: sn.OnPlane(t.p, N, PLACE, of=t.q),
        lambda t: [t.carried(N) @ t.gap - N @ (PLACE - t.y0)],
    ),
    "ceiling": (
        lambda t: sn.OnPlane(t.p, N, PLACE, of=t.q, bound="at_most"),
        lambda t: [N @ (PLACE - t.y0) - t.carried(N) @ t.gap],
    ),
    "axis": (
        lambda t: sn.OnAxis(t.p, N, PLACE, of=t.q),
        lambda t: [t.carried(a) @ t.gap - a @ (PLACE - t.y0) for a in (A1, A2)],
    ),
    "sphere": (lambda t: sn.OnSphere(t.p, t.q, 0.7), lambda t: [np.linalg.norm(t.gap) - 0.7]),
    "circle": (
        lambda t: sn.OnCircle(t.p, t.q, N, 0.7),
        lambda t: [t.carried(N) @ t.gap, np.linalg.norm(t.gap) - 0.7],
    ),
    "distance": (lambda t: sn.Distance(t.p, t.q, 0.7), lambda t: [np.linalg.norm(t.gap) - 0.7]),
    "string": (lambda t: sn.Distance(t.p, t.q, 0.7, "at_most"), lambda t: [0.7 - np.linalg.norm(t.gap)]),
    "fuse": (lambda t: sn.Fuse(t.p, t.q), lambda t: [*t.gap, *t.turned()]),
    "ball": (lambda t: sn.Ball(t.p, t.q), lambda t: t.gap),
    "hinge": (
        lambda t: sn.Hinge(t.p, t.q, N, limits=(-0.3, 0.5), motor=sn.Motor(1.0, max_torque=2.0)),
        lambda t: [*t.gap, *tilted(t, N, t.with_p(N)), angle(t) + 0.3, 0.5 - angle(t), angle(t)],
    ),
    "prismatic": (
        lambda t: sn.Prismatic(t.p, t.q, N, limits=(-0.3, 0.5), motor=sn.Motor(1.0, max_force=2.0)),
        lambda t: [
            *(t.carried(a) @ t.gap - a @ (t.x0 - t.y0) for a in (A1, A2)),
            *t.turned(), slid(t) + 0.3, 0.5 - slid(t), slid(t),
        ],
    ),
    "screw": (
        lambda t: sn.Screw(t.p, t.q, N, lead=-0.4),
        lambda t: [
            *(t.carried(a) @ t.gap - a @ (t.x0 - t.y0) for a in (A1, A2)),
            *tilted(t, N, t.with_p(N)), screwed(t),
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", ROWS)
def test_rows_are_those_of_the_page(kind: str) -> None:
    rng = np.random.default_rng(5)
    scene = sn.Scene()
    bodies = [
        scene.add(sn.RigidBody.box((0.2, 0.3, 0.4), mass=1.0, pose=sn.Pose(rng.normal(size=3), rng.normal(size=4))))
        for _ in range(2)
    ]
    tied = Tied(bodies[0].at((0.1, 0.0, 0.05)), bodies[1].at((0.0, -0.1, 0.02)))
    make, printed = ROWS[kind]
    constraint = scene.add(make(tied))
    for body in bodies:
        turn = sn.Pose((0, 0, 0), (1.0, *(0.2 * rng.normal(size=3))))
        body.pose = sn.Pose(body.position + rng.normal(size=3), (turn @ body.pose).quaternion)
    np.testing.assert_allclose(constraint.violation, printed(tied), atol=1e-12)


def test_a_motor_has_the_options_that_are_printed() -> None:
    assert set(options("Motor")) == {"speed", "max_torque", "max_force"}
    assert "`Motor(speed=0.0, max_torque=math.inf, max_force=math.inf)`" in page_of("Motor")
