"""The suture on a page: a needle holder turns the needle at the end of a thread; the thread curls.

The holder can be dragged and turned, and the thread taken anywhere. The thread has no contact with itself: wound up
by more than about one and a half turns it jumps through its own loop, which takes two turns out of it.
"""

from __future__ import annotations

import math

import numpy as np

import sennit as sn
from sennit.demos.props import layers, plate, solid, still
from sennit.export.facets import Facets, circle, loft
from sennit.export.solids import SQUARE, ball, tube
from sennit.live.strand_play import StrandPlay
from sennit.portrait.parts import SolidView
from sennit.validation import FloatArray

__all__ = ["TURNS", "build", "needle_holder", "script", "tissue"]

TURNS = 1.25
"""How far the script turns the needle to either side: just before the thread jumps."""
PERIOD = 16.0  # s
COUPLING = sn.VirtualCoupling(stiffness=5.0, rotational_stiffness=1e-3)
THICKER = 5.0  # times: so much thicker than it is the thread is drawn
PORT = np.array((0.27, 0.10, 0.27))  # m: towards which the shaft points
NEEDLE = 0.0105  # m: radius of the half circle
MOST_TURNS = 4.0
_STEEL, _DARK, _GOLD = (178, 184, 194), (74, 80, 92), (206, 164, 74)
_NEEDLE, _STRIPE = (196, 202, 212), (255, 226, 140)
_BLUE = (34, 88, 178)


def script(time: float) -> tuple[sn.Pose, float]:
    """Where the needle holder is, and how often it has turned the needle: back and forth, nearer while it turns."""
    wave = math.sin(2.0 * math.pi * time / PERIOD)
    sway = math.sin(2.0 * math.pi * time / (0.37 * PERIOD))
    place = (0.100 - 0.015 * wave * wave, 0.004 * sway, 0.060 - 0.010 * wave * wave)
    return sn.Pose.along(place, (1.0, 0.04 * sway, -0.1)), TURNS * wave


def needle_holder() -> Facets:
    """Needle and jaws, in the frame of the thread's tip: the needle goes on along d3 and bends towards d2."""
    angle = np.linspace(0.0, math.pi, 33)
    arc = np.column_stack((0.0 * angle, NEEDLE * (1.0 - np.cos(angle)), NEEDLE * np.sin(angle)))
    thick = 0.00075 * np.ones(33)
    thick[-9:] = np.linspace(0.00075, 0.00006, 9)
    thick[0] = 0.0010
    parts = [tube(arc, thick, _NEEDLE, sides=12)]
    grip, ahead = arc[11], np.array((0.0, math.sin(angle[11]), math.cos(angle[11])))
    out = np.array((0.0, -ahead[2], ahead[1]))
    out = out if out[2] > 0.0 else -out  # away from the needle's middle
    for side in (-1.0, 1.0):  # jaws: on both sides of the needle, closed on it
        along = np.linspace(-0.004, 0.016, 6)
        half = np.linspace(0.0007, 0.0016, 6)[:, None]
        centres = grip + np.outer(along, out) + np.outer(side * (0.0007 + half[:, 0]), (1.0, 0.0, 0.0))
        wide = np.linspace(0.0013, 0.0026, 6)[:, None]
        first, second = half * np.array((1.0, 0.0, 0.0)), wide * np.cross(out, (1.0, 0.0, 0.0))
        parts.append(loft(centres, first, second, SQUARE, _GOLD if side > 0 else _STEEL, capped=True))
    joint = grip + np.outer((0.015, 0.016, 0.022, 0.0235), out)
    colours = np.tile(np.array(_DARK, dtype=np.float64), (20, 1))
    colours[[0, 1, -1, 9, 10, 11]] = _STRIPE  # a mark that shows how it is turned
    sizes = np.array((0.0032, 0.0042, 0.0042, 0.0034))[:, None]
    across = sizes * np.array((1.0, 0.0, 0.0)), sizes * np.cross(out, (1.0, 0.0, 0.0))
    parts.append(loft(joint, *across, circle(20), colours, capped=True))
    return Facets.joined(parts)


def wrist(tip: sn.Pose) -> FloatArray:
    """Where jaws and shaft meet, (3,), m, when the thread's tip is there."""
    angle = math.pi * 11.0 / 32.0
    grip = np.array((0.0, NEEDLE * (1.0 - math.cos(angle)), NEEDLE * math.sin(angle)))
    out = np.array((0.0, -math.cos(angle), math.sin(angle)))
    return tip @ (grip + 0.0225 * out)


def shaft() -> Facets:
    """The shaft, along its z from the wrist."""
    line = np.outer((-0.0005, 0.001, 0.003, 0.06, 0.12, 0.1205, 0.19, 0.1905, 0.30), (0.0, 0.0, 1.0))
    radii = np.array((0.0022, 0.0034, 0.0037, 0.0037, 0.0037, 0.0046, 0.0046, 0.0037, 0.0037))
    colours = np.array([_DARK, _DARK, _STEEL, _STEEL, _STEEL, _DARK, _DARK, _STEEL, _STEEL], dtype=np.float64)
    return tube(line, radii, colours, sides=20)


def tissue() -> Facets:
    """A piece of tissue with a closed wound and the stitches made before; its skin is at z = 0."""
    angle = np.linspace(0.0, 2.0 * math.pi, 96, endpoint=False)
    wave = np.column_stack((np.cos(angle), np.sin(angle)))
    rim = np.sign(wave) * np.abs(wave) ** 0.4 * (0.105, 0.062) + (0.035, 0.0)
    parts = [layers(rim, (-0.014, -0.005, 0.0), ((240, 206, 150), (226, 152, 134)))]
    wound = np.linspace(-1.0, 1.0, 33)
    for gap, high, colour in ((0.0052, 4e-4, (212, 128, 112)), (0.0018, 7e-4, (142, 40, 46))):
        edge = gap * (1.0 - wound**2) + 1e-5
        lens = np.column_stack((np.r_[wound, wound[::-1]] * 0.078 + 0.033, np.r_[-edge, edge[::-1]] - 0.012))
        parts.append(plate(lens, -0.001, high, colour))
    arc = np.linspace(-0.25, math.pi + 0.25, 17)
    for place in (-0.022, 0.022, 0.042, 0.062, 0.082):
        across = np.column_stack((np.full(17, place), -0.012 - 0.0105 * np.cos(arc), 0.0042 * np.sin(arc)))
        parts.append(tube(across, THICKER * 2e-4, _BLUE, sides=10))
    parts.append(plate(circle(24) * 0.0030, -0.001, 3e-4, (142, 40, 46)))
    parts += [ball(at, 0.0017, _BLUE, sides=16) for at in ((-0.022, -0.0225, 0.0012), (-0.0205, -0.0235, 0.001))]
    return Facets.joined(parts)


def build(thread: sn.Strand, base: sn.Pose) -> StrandPlay:
    """What the page runs."""
    made = StrandPlay(
        thread,
        base=base,
        hand=script(0.0)[0],
        coupling=COUPLING,
        radius=THICKER * 2e-4,
        colour=_BLUE,
        stripe=_STRIPE,
        script=script,
        spin=0.7,
        title="Suture",
        camera=(np.array((0.075, -0.285, 0.150)), np.array((0.052, 0.0, 0.048))),
        ground=-0.014,
    )

    def read_jaws(view: SolidView) -> None:
        tip = made.state.tip_pose
        view.position[:], view.quaternion[:] = tip.position, tip.quaternion

    def read_shaft(view: SolidView) -> None:
        start = wrist(made.state.tip_pose)
        pose = sn.Pose.along(start, PORT - start)
        view.position[:], view.quaternion[:] = pose.position, pose.quaternion

    made.add_solid(solid("needle holder", needle_holder(), role="body"), read_jaws, takes_hand=True)
    made.add_solid(solid("shaft", shaft(), role="body"), read_shaft, takes_hand=True)
    made.add_solid(solid("tissue", tissue()), still)
    _furnish(made)
    return made


def _furnish(made: StrandPlay) -> None:
    """Sliders and plots."""
    strand = made.strand
    assert strand.section is not None and strand.material is not None
    section, nylon = strand.section, strand.material

    def stiffen(modulus: float) -> None:
        material = sn.Material(
            youngs_modulus=1e9 * modulus, poisson_ratio=nylon.poisson_ratio, density=nylon.density
        )  # fmt: skip
        made.replace(sn.Strand(strand.length, section, material, nodes=strand.nodes))

    turns = made.control("turns of the needle", made.turn_to, 0.0, range=(-MOST_TURNS, MOST_TURNS), unit="turns")
    made.control("Young's modulus", stiffen, 1e-9 * nylon.youngs_modulus, range=(0.5, 10.0), unit="GPa")
    by_itself = made.control("turns by itself", lambda on: made.resume() if on else made.take_over(), True)

    def update() -> None:
        by_itself.value = made.scripted
        if made.scripted:
            turns.value = min(max(made.turns, -MOST_TURNS), MOST_TURNS)

    made.after_step = update
    made.watch("force of the hand", lambda: 1e3 * float(np.linalg.norm(made.state.tip_force)), "mN")
    made.watch("torque of the hand", lambda: 1e6 * float(np.linalg.norm(made.state.tip_torque)), "µN·m")
    made.watch("energy of bending", lambda: 1e6 * made.state.energy.bend, "µJ")
    made.watch("energy of twist", lambda: 1e6 * made.state.energy.twist, "µJ")
