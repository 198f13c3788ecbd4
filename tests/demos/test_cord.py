"""The telephone cord: the closed form that it is compared with, what it checks, and what its page does."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sennit as sn
from sennit import cli
from sennit.demos import cord, stage


@pytest.fixture(scope="module")
def show() -> cord.Dangling:
    """The show after three seconds, not drawn."""
    made = cord.Dangling()
    made.begin()
    stage.simulate(made, 3.0)
    return made


# The closed form


def test_a_small_force_stretches_it_as_textbooks_say(validated) -> None:
    """Rate G d⁴ / (64 r³ n) of a coil spring; its pitch angle of 0.095 changes that by its square."""
    shear = cord.PVC.youngs_modulus / (2.0 * (1.0 + cord.PVC.poisson_ratio))
    rate = shear * (2.0 * cord.WIRE) ** 4 / (64.0 * cord.RADIUS**3 * cord.TURNS)
    length = math.hypot(2.0 * math.pi * cord.RADIUS, cord.PITCH) * cord.TURNS
    force = 1e-4
    rest, moved = (length * math.sin(cord.stretched(f)[1]) for f in (0.0, force))
    assert rest == pytest.approx(cord.PITCH * cord.TURNS, rel=1e-12)
    validated(
        "Telephone cord, small force",
        area="demonstrations",
        quantity="stiffness",
        reference="Gd⁴/8D³N",
        error=abs(force / (moved - rest) / rate - 1),
        bound=0.015,
    )


@pytest.mark.parametrize("force", [0.0, 0.3, 1.5, 6.0])
def test_the_stretched_helix_is_in_equilibrium(force: float) -> None:
    """The moment in the wire, from its strains, is that of the force on the axis about the wire."""
    r, a = cord.stretched(force)
    lean = math.atan2(cord.PITCH, 2.0 * math.pi * cord.RADIUS)
    second = math.pi * cord.WIRE**4 / 4.0
    bend = cord.PVC.youngs_modulus * second
    twist = cord.PVC.youngs_modulus / (2.0 * (1.0 + cord.PVC.poisson_ratio)) * 2.0 * second
    tangent, binormal = np.array((math.cos(a), math.sin(a))), np.array((-math.sin(a), math.cos(a)))  # along e_θ and e_z
    curvature = math.cos(a) ** 2 / r - math.cos(lean) ** 2 / cord.RADIUS
    torsion = math.sin(a) * math.cos(a) / r - math.sin(lean) * math.cos(lean) / cord.RADIUS
    moment = bend * curvature * binormal + twist * torsion * tangent
    assert moment == pytest.approx((force * r, 0.0), abs=1e-12)  # about e_θ; none about the axis


# What it checks


def test_the_physics_holds(show: cord.Dangling, validated) -> None:
    assert show.check() == []
    assert show.strayed() < 2e-3
    validated(
        "Telephone cord, bouncing handset",
        area="demonstrations",
        quantity="period",
        reference="2π√(m/k) at its length",
        error=abs(show.period / show.period_due - 1),
        bound=0.02,
    )
    assert len(show.table()) == 5 and show.findings().endswith(".")


def test_a_coil_that_is_stiffer_than_it_should_be_is_noticed(
    show: cord.Dangling, monkeypatch: pytest.MonkeyPatch
) -> None:
    softer = sn.Material(youngs_modulus=0.9 * cord.PVC.youngs_modulus, poisson_ratio=0.4, density=1300)
    monkeypatch.setattr(cord, "PVC", softer)
    wrong = " ".join(show.check())
    assert "Love's formula" in wrong and "bounces" in wrong


@pytest.mark.parametrize(
    ("attribute", "value", "message"), [("unbalanced", 1e-3, "misses its motion"), ("grown", 1e-3, "energy grows")]
)
@pytest.mark.parametrize("number", [True, False])
def test_a_defect_is_named(
    attribute: str, value: float, message: str, number: bool, show: cord.Dangling, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(show, attribute, value if number else math.nan)
    assert any(message in line for line in show.check())


def test_a_handset_that_does_not_bounce_is_noticed(show: cord.Dangling, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(show, "heights", [(t, show.rest - 0.01) for t in (0.0, 1.0, 2.0)])
    assert any("does not bounce" in line for line in show.check())


def test_without_a_page_it_checks_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["demo", "cord", "--headless", "--seconds", "0.2"]) == 0
    assert "Love" in capsys.readouterr().out
    monkeypatch.setattr(cord.Dangling, "strayed", lambda self: 0.1)
    assert cli.main(["demo", "cord", "--headless", "--seconds", "0.02"]) == 1
    assert "Love's formula" in capsys.readouterr().err
    assert os.listdir(tmp_path) == []


# The page


def test_the_page_does_what_it_is_asked_and_resets() -> None:
    play = cord.play()
    begin = play.portrait.capture().copy()
    names = [part.name for part in play.portrait.cast.parts]
    handset = next(k for k, part in enumerate(play.portrait.cast.parts) if part.kind == "solid" and part.role == "body")
    assert "cord" in names and "telephone" in names

    def steps(count: int) -> None:
        for _ in range(count):
            play.step()

    steps(10)
    assert np.abs(play.portrait.capture() - begin).max() > 1e-3  # it is let go
    play.grab(handset, np.zeros(3))
    away = play.grip[1] + np.array((0.08, 0.0, 0.10))
    play.drag(away)
    steps(400)
    assert play.grip[1] == pytest.approx(away, abs=0.02)
    play.release()
    controls = {control.name: control for control in play.controls}
    controls["tug"].use()
    controls["twirl"].use()
    controls["turns of the plug"].use(-3.0)
    controls["more weight"].use(1.0)
    steps(700)
    assert all(math.isfinite(watch.read()) for watch in play.watches)
    play.reset()
    assert np.array_equal(play.portrait.capture(), begin)
    assert play.time == 0.0 and controls["more weight"].value == 0.0 and not play.holding


def test_more_weight_stretches_it_by_what_the_formula_says() -> None:
    made = cord.assemble()
    made.scene.settle(max_iterations=1000)
    rest = float(made.handset.position[2])
    made.weight.force = (0.0, 0.0, -0.3)
    made.scene.settle(max_iterations=1000)
    end = np.array((made.coil.length,))
    load = cord.GRAVITY * cord.HANDSET
    due = float((cord.extension(made, load + 0.3, end) - cord.extension(made, load, end))[0])
    assert rest - float(made.handset.position[2]) == pytest.approx(due, rel=0.01)


# Pictures


def test_a_short_film(tmp_path: Path) -> None:
    Image = pytest.importorskip("PIL.Image")
    target = tmp_path / "sheet.png"
    assert cli.main(["demo", "cord", "--headless", "--seconds", "0.2", "--output", str(target)]) == 0
    with Image.open(target) as sheet:
        assert len(sheet.convert("RGB").getcolors(1 << 22)) > 500


def test_it_starts_without_what_it_needs_later() -> None:
    program = "import sys, sennit.demos.cord; print([n for n in ('PIL', 'numba', 'scipy') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "[]\n"
