"""Makes the figures of ``docs/errata.md`` in ``docs/images``: ``uv run python docs/make_errata_figures.py``.

The formulas, as printed and as they work, are in ``errata_forms.py``. Names on the command line choose some figures;
``numbers`` prints what the page quotes instead.
"""

from __future__ import annotations

import sys

import matplotlib

matplotlib.use("Agg")

import errata_forms as forms
import numpy as np
from make_images import IMAGES, make
from matplotlib import pyplot as plt

BLUE, ORANGE, GREEN, GREY, VIOLET = "#00728c", "#c44e14", "#5a8f3c", "#9aa2ac", "#7a5195"
COUNTS = (25, 50, 100, 200, 400, 800)


def panels(count: int, height: float = 3.6) -> tuple[plt.Figure, list[plt.Axes]]:
    """A row of plain panels."""
    figure, axes = plt.subplots(1, count, figsize=(5.4 * count, height), constrained_layout=True)
    for panel in np.atleast_1d(axes):
        panel.spines[["top", "right"]].set_visible(False)
    return figure, list(np.atleast_1d(axes))


def save(figure: plt.Figure, name: str) -> None:
    """To docs/images."""
    figure.savefig(IMAGES / f"{name}.png", dpi=110)
    plt.close(figure)


def make_strand() -> None:
    """Sweeps that converge to a wrong place; repeated sweeps that do not converge."""
    figure, (left, right) = panels(2)
    looks = {
        "turned": (BLUE, "o-"), "term": (GREEN, "s--"), "printed": (ORANGE, "o-"), "other index": (VIOLET, "s-"),
        "scalar": (GREY, "^-"),
    }  # fmt: skip
    for form, label in forms.SWEEPS.items():
        colour, style = looks[form]
        left.loglog(COUNTS, forms.sweep_errors(form, COUNTS), style, color=colour, label=label, markersize=4)
    left.set_xlabel("steps along the strand")
    left.set_ylabel("error of the tip, of the length")
    left.set_ylim(2e-3, 3.0)
    left.set_xticks(COUNTS, [str(count) for count in COUNTS])
    left.minorticks_off()
    left.set_title("Sweeps under a follower wrench", fontsize=10)
    left.legend(fontsize=8, frameon=False, loc="lower left")
    for load, colour in ((0.5, BLUE), (1.0, GREEN), (2.0, VIOLET), (3.0, ORANGE)):
        changes = np.abs(forms.repeated_sweeps(load, limit=50))
        right.semilogy(range(1, len(changes) + 1), changes, color=colour, label=f"PL²/EI = {load:g}")
    changes = np.abs(forms.repeated_sweeps(3.0, 0.5))
    right.semilogy(range(1, len(changes) + 1), changes, "--", color=ORANGE, label="3, half of each change")
    right.set_xlabel("sweep")
    right.set_ylabel("change of the tip's angle, rad")
    right.set_title("Sweeps repeated for a dead end force", fontsize=10)
    right.legend(fontsize=8, frameon=False)
    save(figure, "errata_strand")


def make_scene() -> None:
    """Momentum of a pearl and its wire; the roll of Frenet's frame."""
    figure, (left, right) = panels(2)
    for corrected, colour, label in ((False, ORANGE, "(31) as printed"), (True, BLUE, "reaction +cṡ (right)")):
        times, momenta = forms.pearl_momentum(corrected)
        left.plot(times, momenta, color=colour, label=label)
    left.plot(times, 2.0 * times, ":", color="black", linewidth=1.2, label="impulse applied")
    left.set_xlabel("time, s")
    left.set_ylabel("momentum of wire and pearl, N·s")
    left.set_title("A pearl pushed along a free wire", fontsize=10)
    left.legend(fontsize=8, frameon=False)
    for aside, colour in ((0.1, GREEN), (0.01, VIOLET), (0.001, ORANGE)):
        t, roll, _ = forms.frenet_roll(aside)
        right.plot(t, np.degrees(roll), color=colour, label=f"out of plane by {aside:g}")
    right.axhline(0.0, color=BLUE, label="carried frame")
    right.set_xlabel("place along an S-shaped curve")
    right.set_ylabel("roll of Frenet's frame, degrees")
    right.set_yticks([0, -45, -90, -135, -180])
    right.set_title("Half a turn out of nothing", fontsize=10)
    right.legend(fontsize=8, frameon=False)
    save(figure, "errata_scene")


def make_cable() -> None:
    """The decay of the printed scheme; twist from a rigid rotation."""
    figure, (left, right) = panels(2)
    left.plot(*forms.swing(1e6, "exact"), color=GREY, linewidth=1.0, label="exact")
    left.plot(*forms.swing(1e6, "spook"), "o-", color=BLUE, markersize=3, linewidth=0.8, label="SPOOK without damping")
    left.plot(*forms.swing(1e6, "printed"), "o-", color=ORANGE, markersize=3, linewidth=0.8, label="(13) as printed")
    left.set_xlabel("time, s")
    left.set_ylabel("elongation, of the first")
    left.set_ylim(-1.15, 1.4)
    left.set_title("Two boxes, 10⁶ N/m, 10 ms a step", fontsize=10)
    left.legend(fontsize=8, frameon=False, ncols=3, loc="upper center")
    angles = np.linspace(-1.2, 1.2, 121)
    for bend, colour in ((0.0, GREY), (0.5, GREEN), (1.0, ORANGE)):
        twist = [forms.euler_twist(bend, angle) for angle in angles]
        width = 4.0 if bend == 0.0 else 1.5
        right.plot(angles, twist, color=colour, linewidth=width, label=f"(17), cable bent by {bend:g} rad")
    carried = [forms.carried_twist(1.0, angle) for angle in angles]
    right.plot(angles, carried, "--", color=BLUE, label="carried along the cable, 1 rad")
    right.set_xlabel("rotation of bodies and cable as one, rad")
    right.set_ylabel("twist that is measured, rad")
    right.set_title("A rigid rotation should not twist", fontsize=10)
    right.legend(fontsize=8, frameon=False)
    save(figure, "errata_cable")


def make_limp() -> None:
    """Digits lost by shooting, and by the logarithm near half a turn."""
    figure, (left, right) = panels(2, 3.2)
    weights = np.geomspace(10.0, 1e4, 13)
    left.loglog(weights, [forms.shooting_growth(w) for w in weights], "o-", color=ORANGE, markersize=4)
    left.axhline(1e16, color=GREY, linestyle="--")
    left.text(12.0, 2e16, "all digits of a double", color=GREY, fontsize=8)
    left.set_xlabel("weight wL³/EI of a hanging thread")
    left.set_ylabel("∂θ(L)/∂κ(0), m")
    left.set_title("An error at the clamp, as the tip sees it", fontsize=10)
    away = np.geomspace(1e-8, 1e-1, 29)
    right.loglog(away, [forms.log_error(a, True) for a in away], "o-", color=ORANGE, markersize=4, label="by the trace")
    by_quaternion = [max(forms.log_error(a, False), 1e-16) for a in away]
    right.loglog(away, by_quaternion, "s-", color=BLUE, markersize=4, label="by the quaternion")
    right.set_xlabel("angle less than half a turn, rad")
    right.set_ylabel("error of the rotation vector, rad")
    right.set_title("Logarithm of a rotation", fontsize=10)
    right.legend(fontsize=8, frameon=False)
    save(figure, "errata_limp")


def numbers() -> None:
    """Prints what the page quotes."""
    for form, label in forms.SWEEPS.items():
        print(f"{label}: {forms.sweep_errors(form, (400, 800))}")
    print("tip of the cantilever, right and printed:", forms.tip_height(-1.0), forms.tip_height(1.0))
    print("sweeps to 1e-8:", {load: len(forms.repeated_sweeps(load)) for load in (0.5, 1.0, 2.0, 3.0)})
    print("half of each change, 3:", len(forms.repeated_sweeps(3.0, 0.5)))
    print("logarithm, 1e-6 and 1e-8 from half a turn:", [forms.log_error(a, True) for a in (1e-6, 1e-8)])
    print("shooting:", {weight: forms.shooting_growth(weight) for weight in (1e2, 1e3, 1e4)})
    print("plane (12), residual over gap:", forms.plane_residual(1.0), forms.plane_residual(-1.0))
    print("net force of the orientation's multiplier:", forms.orientation_force())
    print("distance (15), errors:", forms.distance_errors(3))
    print("pearl (30), travel at |x'| = 2:", forms.pearl_travel(2.0, False), forms.pearl_travel(2.0, True))
    print("pearl (31), momentum:", forms.pearl_momentum(False)[1][-1], forms.pearl_momentum(True)[1][-1])
    print("Frenet, out of plane by 1e-3:", forms.frenet_roll(1e-3)[1][-1], forms.frenet_roll(1e-3)[2])
    print("Hessian of stretch at 0.8:", forms.stretch_curvatures(0.8))
    print("seams:", {form: forms.seam_error(form) for form in ("right", "printed", "twice", "no trailing F")})
    print("Kelvin, right and transposed:", forms.rotation_defect(False), forms.rotation_defect(True))
    print("cable:", forms.cable_stiffnesses())
    print("winch:", forms.winch_speed(-0.5, 0.01, True), forms.winch_lag(1.0, 0.01, True))
    print("left of the amplitude:", [forms.left_after(c) for c in (10.0, 1e3, 1e6)])
    print("let go, both signs and clamped:", forms.let_go(False), forms.let_go(True))
    print("twist of 0.8 rad of rotation:", forms.euler_twist(1.0, 0.8), forms.carried_twist(1.0, 0.8))
    print("friction:", [forms.node_friction(0.2, np.pi / 2, n) for n in (1, 4, 16)], np.exp(0.1 * np.pi))
    print("top frequency:", [forms.top_frequency(n) for n in (10, 20, 40)])


PICTURES = {
    "errata_strand": make_strand,
    "errata_limp": make_limp,
    "errata_scene": make_scene,
    "errata_cable": make_cable,
}


if __name__ == "__main__":
    if sys.argv[1:] == ["numbers"]:
        numbers()
    else:
        make(PICTURES)
