"""Makes the figure of strands that vary in `docs/strand.md`: ``uv run python docs/make_strand_figures.py``."""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")

from make_images import IMAGES
from matplotlib import pyplot as plt

import sennit as sn
from sennit.export.files import replacing

COLOURS = ("#00728c", "#c44e14", "#5a8f3c")


def main() -> None:
    """Three strands that one grip holds level under their weight: shapes, curvatures and moments."""
    nylon = sn.Material(2.7e9, 0.39, 1150)
    thick, thin = sn.Section.circle(2.5e-4), sn.Section.circle(1.4e-4)
    strands = {
        "alike all along": sn.Strand(0.2, thick, nylon, nodes=81),
        "taper": sn.Strand(0.2, [thick, sn.Section.circle(0.5e-4)], nylon, nodes=81),
        "two pieces": sn.Strand(0.2, pieces=[(0.08, thick, nylon), (None, thin, nylon)], nodes=81),
    }
    base = sn.Pose.along((0, 0, 0), tangent=(1, 0, 0), up=(0, 0, 1))
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11.0, 3.3), constrained_layout=True)
    for (name, strand), colour in zip(strands.items(), COLOURS, strict=True):
        state = strand.solve(base=base, gravity=(0, 0, -9.81))
        left.plot(1e3 * state.positions[:, 0], 1e3 * state.positions[:, 2], color=colour, label=name)
        middle.plot(1e3 * state.s, abs(state.curvatures[:, 0]), color=colour)
        right.plot(1e3 * state.s, 1e6 * abs(state.moments[:, 1]), color=colour)
    left.set_aspect("equal", adjustable="datalim")
    left.legend(fontsize=8, frameon=False)
    for panel, labels in (
        (left, ("mm", "mm")),
        (middle, ("arclength, mm", "curvature, 1/m")),
        (right, ("arclength, mm", "moment, µN·m")),
    ):
        panel.set_xlabel(labels[0])
        panel.set_ylabel(labels[1])
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(color="#e4e7eb", linewidth=0.6)
    with replacing(IMAGES / "strands_that_vary.png") as partial:
        figure.savefig(partial, dpi=110, format="png")


if __name__ == "__main__":
    main()
