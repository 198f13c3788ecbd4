"""Makes the figures of hoisting cables in ``docs/images``: ``uv run python docs/make_cable_figures.py``.

Figures 5 to 8 of Servin and Lacoursière, Massless Cable for Real-time Simulation, 2007, from runs of the same two boxes
here (see ``sennit.demos.boxes``), and pictures of the scenes of figures 9 and 10. Names on the command line choose
some.
"""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")

import numpy as np
from make_images import IMAGES, make
from matplotlib import pyplot as plt

from sennit.cli import main as demo
from sennit.demos import boxes, fishing, stage, turnabout
from sennit.export.painting import write_picture

PERIODS = {10.0: 2.2, 1e3: 3.3, 1e6: 5.3}
BLUE, ORANGE, GREEN, GREY = "#00728c", "#c44e14", "#5a8f3c", "#9aa2ac"


def pairs(kind: boxes.Kind, stepping: boxes.Stepping) -> list[boxes.Pair]:
    """The three pairs of a test, after their runs."""
    made = [boxes.Pair(kind, stiffness, stepping) for stiffness in boxes.STIFFNESSES]
    for pair in made:
        pair.run(PERIODS[pair.stiffness] * pair.period)
    return made


def axes(kind: boxes.Kind) -> tuple[plt.Figure, np.ndarray]:
    """A figure with three panels, and their titles."""
    figure, panels = plt.subplots(1, 3, figsize=(11.0, 3.1), constrained_layout=True)
    unit = "N/m" if kind == "stretch" else "N·m/rad"
    for letter, panel, stiffness in zip("abc", panels, boxes.STIFFNESSES, strict=True):
        power = {10.0: "10", 1e3: "10³", 1e6: "10⁶"}[stiffness]
        panel.set_title(f"({letter})  {power} {unit}", fontsize=10)
        panel.set_xlabel("time, s")
        panel.spines[["top", "right"]].set_visible(False)
        panel.margins(x=0.0)
    return figure, panels


def make_motion(kind: boxes.Kind) -> None:
    """Elongation or twist, and what the cable does about it, over stiffness: one curve, if the law holds."""
    figure, panels = axes(kind)
    for panel, pair, worn in zip(panels, pairs(kind, "spook"), pairs(kind, "backward"), strict=True):
        panel.plot(pair.times, pair.values, color=BLUE, label="elongation" if kind == "stretch" else "twist")
        # a step's force is the mean of elongations about its beginning
        force = np.array(pair.forces[1:]) / pair.stiffness
        label = "force / stiffness" if kind == "stretch" else "torque / stiffness"
        panel.plot(pair.times[:-1], force, "--", color=ORANGE, label=label)
        panel.plot(worn.times, worn.values, color=GREY, linewidth=1.0, label="backward form")
        panel.axhline(0.0, color="#d0d4da", linewidth=0.8, zorder=0)
    panels[0].set_ylabel("from balance, m" if kind == "stretch" else "rad")
    figure.legend(
        *panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=9, frameon=False
    )
    figure.savefig(IMAGES / f"cable_{kind}.png", dpi=110)
    plt.close(figure)


def make_energy(kind: boxes.Kind) -> None:
    """Kinetic, elastic and total energy; and the total in the backward form."""
    figure, panels = axes(kind)
    for panel, pair, worn in zip(panels, pairs(kind, "spook"), pairs(kind, "backward"), strict=True):
        kinetic, elastic = np.array(pair.kinetic), np.array(pair.elastic)
        scale = kinetic[0] + elastic[0]
        panel.plot(pair.times, kinetic / scale, color=BLUE, label="kinetic")
        panel.plot(pair.times, elastic / scale, color=ORANGE, label="elastic, from balance")
        panel.plot(pair.times, (kinetic + elastic) / scale, color=GREEN, linewidth=2.0, label="sum")
        lost = np.add(worn.kinetic, worn.elastic)
        panel.plot(worn.times, lost / lost[0], "--", color=GREY, label="sum, backward form")
        panel.set_ylim(0.0, 1.08)
        panel.set_title(f"{panel.get_title()};  1 is {float(f'{scale:.3g}'):,g} J", fontsize=10)
    panels[0].set_ylabel("part of the energy at the start")
    figure.legend(
        *panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=9, frameon=False
    )
    figure.savefig(IMAGES / f"cable_{kind}_energy.png", dpi=110)
    plt.close(figure)


def make_sheet(name: str, show: stage.Show, seconds: float) -> None:
    """Six pictures of a demonstration."""
    show.plan(seconds)
    show.begin()
    record = stage.simulate(show, seconds)
    wrong = show.check()
    if wrong:
        raise SystemExit("; ".join(wrong))
    chosen = sorted({round(x) for x in np.linspace(0, len(record.times) - 1, 6)})
    write_picture(IMAGES / f"{name}.png", stage.draw(show, record, chosen, still=True), stage.FPS)


def make_crane() -> None:
    """Six pictures of the tower crane, by the demonstration itself."""
    if demo(["demo", "crane", "--headless", "--output", str(IMAGES / "crane.png")]) != 0:
        raise SystemExit("the crane did not do what it should")


PICTURES = {
    "cable_stretch": lambda: make_motion("stretch"),
    "cable_stretch_energy": lambda: make_energy("stretch"),
    "cable_twist": lambda: make_motion("twist"),
    "cable_twist_energy": lambda: make_energy("twist"),
    "turnabout": lambda: make_sheet("turnabout", turnabout.Ride(), 8.5),
    "fishing": lambda: make_sheet("fishing", fishing.Outing(), float(sum(s.seconds for s in fishing.SETTINGS))),
    "crane": make_crane,
}


if __name__ == "__main__":
    make(PICTURES)
