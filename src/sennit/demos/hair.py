"""Long hair on a head that shakes and nods: some hundred strands on the page, a hundred thousand in a film.

Each strand is an elastic rod of twenty control points. It lies against the head, with friction, but passes through
other strands. What is one rod here is a wisp of real hair: half a millimetre thick and as soft as many hairs beside
each other are.
"""

from __future__ import annotations

import argparse
import math
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

import sennit as sn
from sennit.demos import add_common_arguments
from sennit.demos.hair_picture import Splatter, tones
from sennit.demos.stage import bar, checked_output, open_page, open_picture
from sennit.live.hair_play import HairPlay
from sennit.portrait.solids import Mesh, ball, capsule, joined
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.live.play import Play

__all__ = ["DESCRIPTION", "add_arguments", "build", "main", "play", "pose_at", "roots"]

DESCRIPTION = (
    "Strands of long hair hang from a head that shakes and nods. On the page the head is moved by its gizmo, and wind "
    "blows. Without a page, or for a film (.gif, .mp4) or some of its frames (.png), the head follows a script. Checks "
    "that no strand comes into the head, that roots stay where they grow, that strands are hardly stretched, and that "
    "none fails. With --device cuda a graphics card makes the steps: of a hundred thousand strands, unless --strands "
    "says otherwise."
)
PAGE, FEW, MANY = 400, 6000, 100_000
"""Strands on the page, in a film made by a processor, and by a graphics card."""
LENGTH, RADIUS = 0.25, 5e-4
DT = 1.0 / 60.0
SKULL = sn.Sphere((0.0, 0.0, 0.0), 0.1)
HEAD = (SKULL, sn.Capsule(0.05, 0.12, sn.Pose((0.0, -0.03, -0.1))), sn.Sphere((0.0, -0.1, -0.05), 0.03))
"""Skull, jaw and neck, nose."""
COMBED = np.array((0.0, 0.35, 0.1))
"""Added to the way out of the head, where a strand begins."""
SKIN = (226, 178, 150)
STRETCH, FEW_IN, TORN = 0.05, 500, 0.2
"""Strain, as a mean over a strand, that one in so many may have for a moment, and that none has: those that are wedged
below the ear have 0.02, those that whip over the skull as they first fall up to 0.07.
"""
PICTURE = 720


def roots(count: int) -> FloatArray:
    """Places on a unit ball (count, 3), evenly spread over a cap that reaches below the middle, but for the face."""
    most = 2 * count + 50
    k = np.arange(most) + 0.5
    z = 1.0 - 1.25 * k / most
    turn = np.pi * (1.0 + math.sqrt(5.0)) * k
    r = np.sqrt(1.0 - z * z)
    places = np.column_stack((r * np.cos(turn), r * np.sin(turn), z))
    above, behind = places[:, 2] > 0.62, places[:, 1] > np.where(places[:, 2] > 0.25, -0.45, 0.15)
    hairy = places[above | behind]
    return np.asarray(hairy[np.linspace(0, len(hairy) - 1, count).astype(int)])


def build(count: int, device: str = "cpu") -> sn.Hair:
    """Hair that stands up and is combed back."""
    ways = roots(count)
    keratin = sn.Material(2e7, 0.4, 1300.0, relaxation_time=0.02)
    chance = np.random.default_rng(1)
    return sn.Hair(
        0.1 * ways, ways + COMBED, length=LENGTH, section=sn.Section.circle(RADIUS), material=keratin,
        stiffness=10.0 ** chance.uniform(-0.3, 0.3, count), rest_curvature=chance.normal(0.0, 4.0, (count, 2)),
        head=HEAD, drag=1.0, friction=0.3, device=device, dtype="float64" if device == "cpu" else "float32",
    )  # fmt: skip


def pose_at(time: float) -> sn.Pose:
    """Where the head is: still for a second, then it shakes and nods."""
    t = max(time - 1.0, 0.0)
    shake, nod = 0.5 * math.sin(2.0 * math.pi * 0.7 * t), 0.25 * math.sin(2.0 * math.pi * 0.45 * t)
    across = sn.Pose((0.02 * math.sin(math.pi * t), 0.0, 0.0), (math.cos(shake / 2), 0.0, 0.0, math.sin(shake / 2)))
    return across @ sn.Pose((0.0, 0.0, 0.0), (math.cos(nod / 2), math.sin(nod / 2), 0.0, 0.0))


def head_mesh() -> Mesh:
    """Skull, jaw, nose and eyes, in the head's frame."""
    eye, dark = ball(0.011).painted((245, 245, 242)), ball(0.006).painted((58, 44, 38))
    parts = [ball(0.0995, 36).painted(SKIN), capsule(0.0495, 0.12).painted(SKIN).moved((0.0, -0.03, -0.1)),
             ball(0.0125).painted((214, 162, 134)).moved((0.0, -0.101, -0.022))]  # fmt: skip
    for side in (-1.0, 1.0):
        parts += [eye.moved((side * 0.034, -0.085, 0.016)), dark.moved((side * 0.035, -0.0925, 0.016))]
    return joined(parts)


def play() -> Play:
    """What the page of ``sennit demo hair`` runs."""
    return page_of(build(PAGE))


def page_of(hair: sn.Hair) -> HairPlay:
    """The page of some hair, with its controls."""
    made = HairPlay(
        hair, head_mesh(), pose_at, dt=DT, radius=1.6 * RADIUS, title="Hair on a head",
        camera=(np.array((0.42, -0.95, 0.16)), np.array((0.0, 0.0, -0.06))), ground=-0.4,
    )  # fmt: skip

    def blow(speed: float) -> None:
        hair.wind = (0.0, speed, 0.0)

    def move(on: bool) -> None:
        made.scripted = on

    made.control("wind from the front", blow, 0.0, range=(-12.0, 12.0), unit="m/s")
    made.control("shake and nod", move, True)
    made.control("friction", lambda value: setattr(hair, "friction", value), 0.3, range=(0.0, 1.0))
    made.watch("deepest in the head", lambda: 1e3 * max(float(hair.depths().max()), 0.0), unit="mm")
    made.watch("energy of motion", lambda: 1e3 * float(hair.energies()["kinetic"].sum()), unit="mJ")
    return made


# -------------------------------------------------------------------------------------------------------- the command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``sennit demo hair``."""
    add_common_arguments(parser, seconds=5.0)
    parser.add_argument("--strands", metavar="N", type=int, default=None, help="how many (default: what is usual)")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="what makes the steps")


class Findings:
    """What is wrong with hair that moves, as far as it was looked at."""

    def __init__(self, hair: sn.Hair) -> None:
        self._hair = hair
        self._begin = 0.1 * roots(hair.count)
        stiffness = 2e7 * sn.Section.circle(RADIUS).area * 10.0**-0.3
        self._full = 0.5 * stiffness * hair.length
        """Energy of a strand that is stretched by its own length, J, at least."""
        self.deepest, self.stretched, self.off, self.looks = -math.inf, 0.0, 0.0, 0
        self.many = 0
        """Strands that were stretched by more than `STRETCH` at once."""

    def look(self) -> None:
        """Look now."""
        hair = self._hair
        self.looks += 1
        self.deepest = max(self.deepest, float(hair.depths().max()))
        strains = np.sqrt(hair.energies()["stretch"] / self._full)
        self.stretched = max(self.stretched, float(strains.max()))
        self.many = max(self.many, int((strains > STRETCH).sum()))
        local = (hair.positions[:, 0] - hair.pose.position) @ hair.pose.rotation
        self.off = max(self.off, float(np.abs(local - self._begin).max()))

    def wrong(self) -> list[str]:
        """What does not hold."""
        hair, found = self._hair, []
        if not self.deepest <= 2.0 * hair.radius:
            found.append(f"a strand is {1e3 * self.deepest:.2f} mm deep in the head")
        if not self.off <= 1e-5:
            found.append(f"a root is {1e3 * self.off:.2g} mm from where it grows")
        if not self.stretched <= TORN:
            found.append(f"a strand is stretched by {100.0 * self.stretched:.1f} %")
        if self.many > 1 + hair.count // FEW_IN:
            found.append(f"{self.many} strands are stretched by more than {100.0 * STRETCH:.0f} % at once")
        if hair.status.any():
            found.append(next(iter(hair.failures.values())))
        return found


def main(args: argparse.Namespace) -> int:
    """Open the page; or move the head by its script, check, and write the film: 1 if a check fails."""
    paged = not args.headless and args.output is None
    usual = PAGE if paged or args.output is None else MANY if args.device == "cuda" else FEW
    hair = build(usual if args.strands is None else args.strands, args.device)
    if paged:
        return open_page(page_of(hair), args)
    target = None if args.output is None else checked_output(args.output)
    found, pictures = Findings(hair), []
    frames = max(2, round(30.0 * args.seconds))
    still = target is not None and target.suffix.lower() == ".png"
    chosen = {round(frames * (k + 0.5) / 6) for k in range(6)} if still else set(range(frames))
    camera = Splatter((0.42, -0.95, 0.16), (0.0, 0.0, -0.06), PICTURE)
    skin = skin_points()
    tint = np.random.default_rng(2).random(hair.count).astype(np.float32)
    with bar("Moving", frames) as progress:
        for frame in range(frames):
            for _ in range(2):
                hair.pose = pose_at(hair.time + DT)
                hair.step(DT)
            found.look()
            if target is not None and frame in chosen:
                pictures.append(picture(hair, camera, skin, tint))
            progress(frame + 1)
    wrong = found.wrong()
    if wrong:
        print(f"sennit: the physical check failed: {'; '.join(wrong)}", file=sys.stderr)
        return 1
    print(
        f"Checked in {found.looks} of {2 * frames} steps of {hair.count:,} strands: none comes deeper into the head "
        f"than {1e3 * max(found.deepest, 0.0):.2f} mm, roots stay to {found.off:.0e} m, none is stretched by more than "
        f"{100.0 * found.stretched:.1f} % or fails."
    )
    if target is not None:
        from sennit.export.painting import write_picture

        write_picture(target, pictures, 30.0)
        print(f"Wrote {target} ({target.stat().st_size / 1e6:.1f} MB, {len(pictures)} frames).")
        if not args.headless:
            open_picture(target)
    return 0


def skin_points(count: int = 160_000) -> tuple[Any, Any]:
    """Places on the head and normals there, (k, 3) each, in its frame."""
    mesh = head_mesh()
    corners = mesh.vertices[mesh.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(normals, axis=1)
    chance = np.random.default_rng(0)
    faces = chance.choice(len(areas), 4 * count, p=areas / areas.sum())
    a, b = np.sqrt(chance.random(4 * count)), chance.random(4 * count)
    shares = np.column_stack((1.0 - a, a * (1.0 - b), a * b))
    return np.einsum("kc,kcx->kx", shares, corners[faces]), normals[faces] / areas[faces, None]


def picture(hair: sn.Hair, camera: Splatter, skin: tuple[Any, Any], tint: Any) -> Any:
    """How it looks now, as a picture."""
    from PIL import Image

    places, normals = skin
    R, middle = hair.pose.rotation, hair.pose.position
    turned = (places @ R.T + middle).astype(np.float32), (normals @ R.T).astype(np.float32)
    lines = hair.centerlines(160 if hair.count < 20_000 else 72).astype(np.float32)
    return Image.fromarray(tones(camera.picture(lines, tint, turned, middle)))
