"""Makes the figure of `docs/inelastic.md`: ``uv run python docs/make_inelastic_figures.py``."""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")

import numpy as np
from make_images import IMAGES
from matplotlib import pyplot as plt

import sennit as sn
from sennit.bodies.rod.branches.fibres import branches_of
from sennit.bodies.rod.branches.kernels.flow import respond
from sennit.bodies.rod.branches.table import Slips
from sennit.export.files import replacing

BLUE, ORANGE, GREEN = "#00728c", "#c44e14", "#5a8f3c"


def moments(section: sn.Section, material: sn.Material, way: np.ndarray, time: float = 0.0) -> np.ndarray:
    """Moment about d1 along a way through curvatures, with so much time for each step of it."""
    branches = branches_of(section, material)
    slips = Slips(rows=len(branches))
    stiffness = tuple(section.bending_stiffness(material).diagonal().tolist())
    found, before = [], (0.0, 0.0, 0.0)
    for curvature in way.tolist():
        strain = (curvature, 0.0, 0.0)
        m, _, _ = respond(strain, before, stiffness, 0, len(branches), 0, branches, slips, time, 0, 1.0)
        found.append(stiffness[0] * m[0])
        before = strain
    return np.array(found)


def main() -> None:
    """Loops of a bar that yields, a superelastic wire and a cord that creeps."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11.0, 3.3), constrained_layout=True)
    bar, metal = sn.Section.rectangle(2e-3, 1e-3), sn.Material(70e9, 0.33, 2700, yield_stress=200e6)
    first = 2 * 200e6 / (70e9 * 1e-3)
    yields = 70e9 * bar.I1 * first
    way = np.concatenate([np.linspace(a, b, 200) for a, b in ((0, 6), (6, -6), (-6, 6))])
    left.plot(way, moments(bar, metal, way * first) / yields, color=BLUE)

    def law(x: np.ndarray) -> np.ndarray:
        return np.where(x <= 1, x, 1.5 - 0.5 / np.maximum(x, 1) ** 2)

    x = np.linspace(0, 6, 200)
    left.plot(x, law(x), "--", color=ORANGE, linewidth=1.0)
    left.plot(6 - 2 * x, law(np.array(6.0)) - 2 * law(x), "--", color=ORANGE, linewidth=1.0)
    left.set_title("aluminium, 2 × 1 mm", fontsize=10)
    left.set_xlabel("curvature / first yield's")
    left.set_ylabel("moment / first yield's")
    wire, nitinol = sn.Section.circle(2.5e-4), sn.Material(60e9, 0.33, 6450, superelastic=(500e6, 200e6, 0.05))
    way = np.concatenate(
        [np.linspace(a, b, 200) for a, b in ((0, 80), (80, 0), (0, 150), (150, 0), (0, 280), (280, 0))]
    )
    middle.plot(way, 1e3 * moments(wire, nitinol, way), color=BLUE)
    middle.set_title("nickel-titanium, 0.5 mm", fontsize=10)
    middle.set_xlabel("curvature, 1/m")
    middle.set_ylabel("moment, mN·m")
    cord, gut = sn.Section.circle(1e-3), sn.Material(2e9, 0.4, 1200, prony=[(0.3, 0.1), (0.2, 5.0)])
    turn = np.linspace(0, 4 * np.pi, 400)
    for period, colour in ((0.05, GREEN), (1.0, BLUE), (60.0, ORANGE)):
        way = 10 * np.sin(turn)
        made = 1e3 * moments(cord, gut, way, 2 * period / 400)
        right.plot(way[200:], made[200:], color=colour, label=f"{period:g} s")
    right.legend(title="a cycle in", fontsize=8, title_fontsize=8, frameon=False)
    right.set_title("gut, 2 mm", fontsize=10)
    right.set_xlabel("curvature, 1/m")
    right.set_ylabel("moment, mN·m")
    for panel in (left, middle, right):
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(color="#e4e7eb", linewidth=0.6)
    with replacing(IMAGES / "inelastic_loops.png") as partial:
        figure.savefig(partial, dpi=110, format="png")


if __name__ == "__main__":
    main()
