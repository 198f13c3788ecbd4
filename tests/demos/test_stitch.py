"""The running suture as a demonstration: its mesh, what it checks, that it notices defects, what it draws."""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from references import meshes

import sennit as sn
from sennit import cli
from sennit.demos import stage, stitch
from sennit.demos.tissue import Slab


def seconds() -> float:
    parser = argparse.ArgumentParser()
    stitch.add_arguments(parser)
    return float(parser.parse_args([]).seconds)


@pytest.fixture(scope="module")
def show() -> stitch.Sewing:
    """The show after its whole run, not drawn."""
    made = stitch.Sewing()
    made.begin()
    stage.simulate(made, seconds())
    return made


# The mesh


@pytest.mark.parametrize("cells", [(8, 24, 5), (3, 4, 2), (5, 9, 3)])
def test_the_slab_is_a_closed_body(cells: tuple[int, int, int]) -> None:
    slab = Slab(cells=cells)
    vertices, faces = slab.mesh()
    nx, ny, nz = cells
    assert len(vertices) == 2 * (nx * ny + ny * nz + nz * nx) + 2 and len(faces) == 2 * len(vertices) - 4
    # each edge belongs to two faces, once in either direction
    edges = np.concatenate([faces[:, [k, (k + 1) % 3]] for k in range(3)])
    there = {tuple(edge) for edge in edges.tolist()}
    assert len(there) == len(edges) and {(b, a) for a, b in there} == there
    zone = sn.Zone.from_mesh(*Slab(cells=(3, 4, 2)).mesh(), material=stitch.TISSUE)  # refuses meshes that cross
    assert zone.volume > 0.0


def test_the_slab_has_its_volume() -> None:
    """A box without what the rounding takes, r² (1 − π/4), and the opening, which shears the section: w − opening wide.

    The wave's mean is a half. Chords cut corners: second order in the cells.
    """
    missed = []
    for n in (1, 2):
        slab = Slab(cells=(8 * n, 24 * n, 5 * n))
        w, h, r = slab.width, slab.thickness, slab.rounding
        # x → x + opening (1 − x/w) shrinks the section's area by 1 − opening/w
        area = w * h - r**2 * (1.0 - math.pi / 4.0)
        due = slab.length * area * (1.0 - 0.5 * (slab.open_middle + slab.open_end) / w)
        missed.append(abs(meshes.volume(*slab.mesh()) / due - 1.0))
    assert missed[0] < 2e-3 and missed[1] < 0.3 * missed[0]


def test_half_a_turn_is_the_opposite_lip() -> None:
    slab = Slab()
    vertices, _ = slab.mesh()
    facing = slab.facing()
    right, left = vertices[facing], (vertices @ stitch.HALF_TURN)[facing][::-1]
    assert left == pytest.approx(right * (-1, 1, 1), abs=1e-15)
    # lip: next to the opening, from the bottom up
    assert right[:, 0, 0] == pytest.approx(slab.opening(right[:, 0, 1]), abs=1e-15)
    assert np.all(np.diff(right[:, :, 2], axis=1) > 0.0)
    held = vertices[slab.held(vertices)]
    assert np.all((held[:, 0] > slab.undermined) & ((held[:, 2] == 0.0) | (held[:, 0] > 0.999 * slab.width)))


def test_cells_are_finer_at_the_lip() -> None:
    top = Slab().section()[:, -1, 0]
    assert np.all(np.diff(top, 2) > -1e-4) and np.diff(top)[-1] > 2.0 * np.diff(top)[0]


# The physics


def test_the_physics_holds(show: stitch.Sewing, validated) -> None:
    assert show.check() == []
    assert show.scene.events == ()
    assert show.findings().endswith(".") and len(show.table()) == 7
    # friction slides at every hole towards the hand: each is at Coulomb's limit
    _, along, across = show.slides()
    validated(
        "Thread drawn through a wound",
        area="demonstrations",
        quantity="drag over pressure",
        reference="Coulomb",
        error=np.abs(-along / across / stitch.FRICTION - 1).max(),
        bound=0.05,
    )
    # nearer to the hand the wound is narrower; nowhere do the lips overlap
    gaps = show.wound.gaps()
    assert gaps[:12].mean() > gaps[13:].mean()
    assert np.all(gaps > 0.0)


def test_energy_of_the_pads_is_that_of_their_states(show: stitch.Sewing) -> None:
    stored = sum(pad.state.energy for pad in show.wound.pads)
    assert stored == pytest.approx(show.scene.energy.zones, rel=1e-9)


DEFECTS = [
    ("opened", np.full(25, 1e-4), "mm wide"),
    ("loose", 0.1, "supports and hand"),
    ("torn", 0.1, "forces on a pad"),
    ("rubs", 0.05, "a hole rubs"),
    ("taken", 0.3, "tension falls"),
    ("turned", 12.0, "hand over knot"),
    ("worked", 1.0, "neither stored nor rubbed"),
    ("rubbed", 0.01, "neither stored nor rubbed"),
]


@pytest.mark.parametrize(("attribute", "value", "message"), DEFECTS)
@pytest.mark.parametrize("number", [True, False])
def test_a_defect_is_named(
    attribute: str, value: object, message: str, number: bool, show: stitch.Sewing, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert hasattr(show, attribute)
    wrong = value if number else np.multiply(value, math.nan)
    if isinstance(getattr(stitch.Sewing, attribute, None), property):
        monkeypatch.setattr(stitch.Sewing, attribute, property(lambda self: wrong))
    else:
        monkeypatch.setattr(show, attribute, wrong)
    assert any(message in line for line in show.check())


def test_a_hole_that_holds_the_thread_fast_is_noticed(show: stitch.Sewing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stitch, "FRICTION", 0.5 * stitch.FRICTION)
    assert any("a hole rubs" in line for line in show.check())


def test_without_a_page_it_checks_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["demo", "stitch", "--headless", "--seconds", "0.5"]) == 0
    assert "mm of thread" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_forces_that_do_not_balance_are_noticed(show: stitch.Sewing, monkeypatch: pytest.MonkeyPatch) -> None:
    assert show.check() == []
    monkeypatch.setattr(stitch.Sewing, "torn", property(lambda self: 0.1))
    assert any("forces on a pad" in line for line in show.check())


# The page


def test_the_page_draws_and_slackens_the_thread_and_resets() -> None:
    play = stitch.play()
    begin = play.portrait.capture().copy()
    controls = {control.name: control for control in play.controls}
    watches = {watch.name: watch.read for watch in play.watches}
    wide = watches["width of the wound"]()

    def steps(count: int) -> None:
        for _ in range(count):
            play.step()

    steps(400)
    assert controls["thread drawn"].value > 5.0  # by itself
    controls["thread drawn"].use(30.0)
    assert controls["draws by itself"].value is False
    steps(500)
    assert controls["thread drawn"].value == 30.0
    assert watches["width of the wound"]() < 0.8 * wide
    assert watches["pull of the hand"]() > watches["tension at the knot"]() > 0.0
    thread = next(k for k, part in enumerate(play.portrait.cast.parts) if part.name == "thread")
    play.grab(thread, 0.97)
    play.drag(play.grip[1] + np.array((0.0, 0.002, 0.0)))
    steps(20)
    play.release()
    pad = next(k for k, part in enumerate(play.portrait.cast.parts) if part.name == "right pad")
    play.grab(pad, 40)
    play.drag(play.grip[1] + np.array((0.0, 0.0, 0.001)))
    steps(20)
    play.release()
    play.reset()
    assert np.array_equal(play.portrait.capture(), begin)
    assert controls["thread drawn"].value == 0.0 and controls["draws by itself"].value is True
    steps(5)


# Pictures


def test_a_short_film(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Image = pytest.importorskip("PIL.Image")
    target = tmp_path / "sheet.png"
    assert cli.main(["demo", "stitch", "--headless", "--seconds", "0.6", "--output", str(target)]) == 0
    with Image.open(target) as sheet:
        assert len(sheet.convert("RGB").getcolors(1 << 22)) > 2000
    assert "3 mm of thread" in capsys.readouterr().out


def test_stretches_of_a_sheet() -> None:
    pytest.importorskip("PIL.Image")
    from sennit.demos.tissue_picture import Skin, flesh, stretches

    rest, faces = meshes.block((1.0, 1.0, 1.0), (3, 3, 3))
    turned = rest @ np.array(((0, -1, 0), (1, 0, 0), (0, 0, 1)))
    assert stretches(rest, turned, faces) == pytest.approx(np.zeros(len(rest)), abs=1e-7)
    grown = stretches(rest, rest * (1.0, 1.0, 1.25), faces)
    assert grown.max() == pytest.approx(0.25) and grown[np.all(rest == (1 / 3, 1 / 3, 1.0), axis=1)].max() < 0.13
    # simple shear by g: λ² = 1 + g²/2 + g sqrt(1 + g²/4)
    g = 0.3
    sheared = stretches(rest, rest @ np.array(((1.0, g, 0), (0, 1, 0), (0, 0, 1))), faces)
    inside = np.all(np.abs(rest - (0.5, 0.5, 1.0)) < (0.2, 0.2, 1e-9), axis=1)
    assert sheared[inside] == pytest.approx(math.sqrt(1 + g**2 / 2 + g * math.sqrt(1 + g**2 / 4)) - 1)
    skin = Skin(rest, faces).facets(rest, flesh(np.zeros(len(rest)), 0.0, 1.0))
    assert len(skin.normals) == 9 * 18 + 5 * 18
    # the sides of a block stay flat to their edges
    assert np.abs(skin.normals).max(axis=1) == pytest.approx(np.ones(len(skin.normals)))


def test_it_starts_without_what_it_needs_later() -> None:
    program = "import sys, sennit.demos.stitch; print([n for n in ('PIL', 'numba', 'scipy') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "[]\n"
