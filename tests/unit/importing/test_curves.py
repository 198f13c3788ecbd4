"""Centrelines from .csv and .dxf files: against closed forms, in every unit, and what is refused."""

from __future__ import annotations

import io
import math
import os
import random
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import records

import sennit as sn
from sennit.importing.crossing import first_crossing

ezdxf = pytest.importorskip("ezdxf", reason="ezdxf is not installed: pip install 'sennit[cad]'")

ROUTE = "x_m,y_m,z_m\n0,0,0\n0.1,0,0.05\n0.2,0.1,0\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def drawn(unit: int = 4, name: str = "a.dxf"):
    """A drawing in a unit of $INSUNITS (4: mm), its model, and what saves it."""
    drawing = ezdxf.new("R2010")
    drawing.header["$INSUNITS"] = unit
    return drawing.modelspace(), lambda: drawing.saveas(name)


def length_of(places: np.ndarray) -> float:
    return float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum())


# --------------------------------------------------------------------------------------------------------------- tables


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (ROUTE, {}),
        ("\ufeff# a route\nx_mm, y_mm, z_mm\n\n0,0,0\r\n1e2,0,50\n200,100,0\n", {}),
        ("X [cm],Z (cm),Y_CM\n0,0,0\n10,5,0\n20,0,10", {}),
        ("x,y,z\n0,0,0\n10,0,5\n20,10,0", {"unit": "cm"}),
        ("name,x_mm,y_mm,z_mm,u\na,0,0,0,\n,100,0,50,x\nb,200,100,0,y", {"columns": ("x_mm", "y_mm", "z_mm")}),
        ("u,v,w\n0,0,0\n0,.1,.05\n.1,.2,0", {"columns": ("v", "u", "w"), "unit": "m"}),
    ],
)
def test_tables_in_all_units(text: str, options: dict) -> None:
    Path("route.csv").write_bytes(text.encode())
    assert np.allclose(sn.read_curve("route.csv", **options), ((0, 0, 0), (0.1, 0, 0.05), (0.2, 0.1, 0)), atol=1e-16)


def test_what_the_library_writes_it_reads() -> None:
    scene = sn.Scene()
    steel = sn.Material(youngs_modulus=2e8, poisson_ratio=0.3, density=7000)
    rod = scene.add(sn.Rod.straight((0, 0, 0), (1, 0, 0.5), section=sn.Section.circle(1e-3), material=steel))
    sn.record(scene, 0, "rod.csv")
    places = sn.read_curve("rod.csv", columns=("x_m", "y_m", "z_m"))
    assert np.array_equal(places[-1], rod.at(rod.length).position)
    again = sn.Rod.through(places, section=rod.section, material=steel)
    assert again.length == pytest.approx(rod.length, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"'route\.csv', line 1: it is empty"),
        ("x_m,y_m,z_m\n", "needs two places or more, got 0"),
        ("x_m,y_m,z_m\n0,0,0\n", "needs two places or more, got 1"),
        ("0,0,0\n1,0,0\n", "line 1: numbers, where the names of the columns belong"),
        ("x,y,z\n0,0,0\n1,0,0\n", "line 1: the columns have no unit: call them x_m, y_m, z_m"),
        ("x_m,y_m\n0,0\n1,0\n", "line 1: the column z is missing"),
        ("x_m,y_m,z_mm\n0,0,0\n1,0,0\n", "line 1: the columns are in m and mm: there must be one unit"),
        ("x_m,y_m,zz_m\n0,0,0\n1,0,0\n", "the column 'zz_m' is none of x, y, z with a unit: did you mean 'z_m'"),
        ("x_m,y_m,x_m\n0,0,0\n1,0,0\n", "line 1: the column x is there twice"),
        ("x_m;y_m;z_m\n0,5;0;0\n", "line 1: cells are parted by semicolons"),
        ("x_m\ty_m\tz_m\n0\t0\t0\n", "line 1: cells are parted by tabs"),
        ('x_m,y_m,z_m\n0,0,0\n"0,5",0,0\n', r"line 3: x_m has a decimal comma, '0,5': write 0\.5 with a point"),
        ("x_m,y_m,z_m\n0,0,0\n0,5,0,0,0,0\n", "line 3: 6 cells under 3 columns: are there decimal commas"),
        ("x_m,y_m,z_m\n0,0,0\n1,0\n", "line 3: 2 cells under 3 columns"),
        ("x_m,y_m,z_m\n0,0,0\n1,0,far\n", "line 3: z_m must be a number without a unit, got 'far'"),
        ("x_m,y_m,z_m\n0,0,0\n1,nan,0\n", "line 3: y_m must be a number without a unit, got 'nan'"),
        ("x_m,y_m,z_m\n0,0,0\n1,0,\n", "line 3: z_m is empty: give a number"),
        ("x_m,y_m,z_m\n0,0,0\n1e200,0,0\n", "line 3: a place beyond all sense"),
        ("x_m,y_m,z_m\n0,0,0\n\n1,0,0\n1,0,0\n2,0,0\n", "lines 4 and 5: the same place twice"),
        ("x_m,y_m,z_m\n0,0,0\n2,0,0\n2,1,0\n1,1,0\n1,-1,0\n",
         r"crosses itself, or comes back, at \(1, 0, 0\) m: after line 2 and line 5"),
        ("x_m,y_m,z_m\n0,0,0\n2,0,0\n1,0,0\n", "crosses itself, or comes back"),
        ('x_m,y_m,z_m\n"0,0,0\n1,0,0\n', "line 3"),
    ],
)  # fmt: skip
def test_bad_tables(text: str, message: str) -> None:
    Path("route.csv").write_text(text)
    with pytest.raises(sn.InputError, match=message) as problem:
        sn.read_curve("route.csv")
    assert "route.csv" in str(problem.value) and "\n" not in str(problem.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"unit": "mm"}, "the columns are in m, and unit is 'mm'"),
        ({"unit": "miles"}, "unit must be"),
        ({"unit": 3}, "unit must be"),
        ({"columns": ("x_m", "y_m")}, "columns must be three names"),
        ({"columns": ("x_m", "y_m", "z_mm")}, "no column 'z_mm', or two: did you mean 'z_m'"),
        ({"columns": 3}, "columns must be a list"),
        ({"layer": "a"}, r"layer is for \.dxf files, got 'a'"),
    ],
)
def test_bad_arguments(options: dict, message: str) -> None:
    Path("route.csv").write_text(ROUTE)
    with pytest.raises(sn.InputError, match=message):
        sn.read_curve("route.csv", **options)


def test_links_archives_and_folders() -> None:
    Path("route.csv").write_text(ROUTE)
    os.symlink("route.csv", "link.csv")
    os.mkdir("folder.dxf")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("route.csv", ROUTE)
    for name in ("zip.csv", "zip.dxf"):
        Path(name).write_bytes(packed.getvalue())
    Path("old.dxf").write_bytes(b"AC1032\0\0\0")
    Path("latin.csv").write_bytes("x_m,y_m,z_m\n0,0,0\n1,0,0,ü".encode("latin-1"))
    for path, message in (
        ("link.csv", "is a link"), ("folder.dxf", "is no plain file"), ("zip.csv", "is a spreadsheet or an archive"),
        ("zip.dxf", "is an archive: save it as DXF"), ("old.dxf", "is a drawing in the format DWG"),
        ("rout.csv", r"there is no file 'rout\.csv': did you mean 'route\.csv'\?"), ("route.txt", r"must end in \.csv"),
        ("latin.csv", "line 3: this is no UTF-8 text"), (3, "path must be the name of a .csv or .dxf file"),
    ):  # fmt: skip
        with pytest.raises(sn.InputError, match=message):
            sn.read_curve(path)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------------------- crossing


def test_crossings_are_found_and_only_those() -> None:
    angle = np.linspace(0.0, 2 * np.pi, 101)
    circle = np.column_stack((np.cos(angle), np.sin(angle), 0 * angle))
    eight = np.column_stack((np.sin(angle), np.sin(2 * angle), 0 * angle))
    assert first_crossing(circle) is None and first_crossing(circle[:-1]) is None
    first, second, place = first_crossing(eight)
    assert {first, second} <= {49, 50, 0, 99} and np.abs(place).max() < 1e-9
    lifted = eight + np.column_stack((0 * angle, 0 * angle, 0.001 * angle))
    assert first_crossing(lifted) is None
    # very uneven sides, a corner of a thousandth of a radian, and neighbours that nearly coincide
    assert first_crossing(np.array(((0, 0, 0), (1e-9, 0, 0), (1, 0, 0), (1, 1e-9, 0), (0, 2e-3, 0)))) is None
    assert first_crossing(np.array(((0, 0, 0), (1, 0, 0), (1, 1, 0), (0.5, 1, 0), (0.5, 1e-9, 0.0)))) is not None
    helix = np.column_stack((np.cos(50 * angle), np.sin(50 * angle), 0.1 * angle))
    assert first_crossing(helix) is None


# ------------------------------------------------------------------------------------------------------------- drawings


def test_a_drawing_of_lines_arcs_and_splines_is_one_curve(validated) -> None:
    """Drawn in any order and direction: a line, a quarter of a circle, a line, a spline, in millimetres."""
    model, save = drawn()
    model.add_line((200, 100), (200, 300))
    model.add_arc((100, 100), radius=100, start_angle=270, end_angle=360)
    model.add_line((100, 0), (0, 0))
    model.add_open_spline([(200, 300, 0), (200, 400, 0), (300, 400, 0), (300, 400, 100)], degree=3)
    save()
    places = sn.read_curve("a.dxf")
    if places[0, 0] > 0.1:
        places = places[::-1]
    assert np.allclose(places[[0, -1]], ((0, 0, 0), (0.3, 0.4, 0.1)), atol=1e-12)
    # the cubic of these control points is a Bézier curve
    t, w = np.polynomial.legendre.leggauss(40)
    t = 0.5 * (t + 1)
    corners = np.array(((0.2, 0.3, 0), (0.2, 0.4, 0), (0.3, 0.4, 0), (0.3, 0.4, 0.1)))
    sides = 3 * np.diff(corners, axis=0)
    slope = np.outer((1 - t) ** 2, sides[0]) + np.outer(2 * t * (1 - t), sides[1]) + np.outer(t * t, sides[2])
    exact = 0.1 + math.pi / 2 * 0.1 + 0.2 + float(0.5 * w @ np.linalg.norm(slope, axis=1))
    arc = places[(places[:, 0] > 0.1 + 1e-9) & (places[:, 0] < 0.2 - 1e-9) & (places[:, 1] < 0.1 - 1e-9)]
    off = np.abs(np.linalg.norm(arc - (0.1, 0.1, 0), axis=1) - 0.1).max()
    validated("Curves from DXF", area="rods in scenes", quantity="places of an arc, m", reference="its circle",
              error=off, bound=1e-6)  # fmt: skip
    assert length_of(places) == pytest.approx(exact, rel=3e-4) and len(arc) > 20
    assert np.linalg.norm(np.diff(places, axis=0), axis=1).max() <= length_of(places) / 100 * (1 + 1e-9)
    steel = sn.Material(youngs_modulus=2e8, poisson_ratio=0.3, density=7000)
    rod = sn.Rod.through(places, section=sn.Section.circle(1e-3), material=steel, control_points=60)
    assert rod.length == pytest.approx(exact, rel=2e-3)  # it rounds the corners of curvature off


@pytest.mark.parametrize(("code", "metres"), [(1, 0.0254), (2, 0.3048), (4, 1e-3), (5, 1e-2), (6, 1.0), (14, 0.1)])
def test_the_unit_of_the_drawing_is_honoured(code: int, metres: float) -> None:
    model, save = drawn(code)
    model.add_lwpolyline([(0, 0), (3, 0), (3, 4)])
    save()
    places = sn.read_curve("a.dxf")
    assert length_of(places) == pytest.approx(7 * metres) and np.allclose(places[-1], (3 * metres, 4 * metres, 0))


def test_closed_curves_blocks_and_layers() -> None:
    model, save = drawn(6)
    model.add_circle((1, 2, 3), 0.5, dxfattribs={"layer": "ring"})
    model.add_ellipse((9, 0, 0), (0.4, 0, 0), 0.5, dxfattribs={"layer": "hole"})
    block = model.doc.blocks.new("PIPE")
    block.add_lwpolyline([(0, 0), (1, 0), (1, 1)], dxfattribs={"layer": "pipe"})
    model.add_blockref("PIPE", (5, 5), dxfattribs={"xscale": 2, "yscale": 2})
    model.add_text("ring")
    save()
    ring = sn.read_curve("a.dxf", layer="ring")
    assert np.array_equal(ring[0], ring[-1]) and length_of(ring) == pytest.approx(np.pi, rel=3e-4)
    steel = sn.Material(youngs_modulus=2e8, poisson_ratio=0.3, density=7000)
    rod = sn.Rod.through(ring, closed=True, section=sn.Section.circle(1e-3), material=steel, control_points=30)
    assert rod.closed and rod.length == pytest.approx(np.pi, rel=1e-4)
    pipe = sn.read_curve("a.dxf", layer="pipe")
    assert length_of(pipe) == pytest.approx(4) and np.allclose(pipe[0], (5, 5, 0))
    with pytest.raises(sn.InputError, match=r"has 3 curves .*: layer= chooses one of 'hole, pipe, ring'"):
        sn.read_curve("a.dxf")
    with pytest.raises(sn.InputError, match=r"no curves on the layer 'rink': did you mean 'ring'\?"):
        sn.read_curve("a.dxf", layer="rink")


def test_bad_drawings() -> None:
    def refused(message: str, **options: object) -> None:
        with pytest.raises(sn.InputError, match=message) as problem:
            sn.read_curve("a.dxf", **options)  # type: ignore[arg-type]
        assert "a.dxf" in str(problem.value) and "\n" not in str(problem.value)

    model, save = drawn()
    model.add_text("no curve")
    model.add_point((1, 1))
    save()
    refused("has no curves")
    model, save = drawn(0)
    model.add_line((0, 0), (1, 0))
    save()
    refused("does not say its unit: give unit='mm'")
    assert length_of(sn.read_curve("a.dxf", unit="ft")) == pytest.approx(0.3048)
    model, save = drawn(4)
    model.add_line((0, 0), (1, 0))
    save()
    refused("is drawn in mm, and unit is 'in'", unit="in")
    refused(r"columns is for \.csv files", columns=("x", "y", "z"))
    model.add_line((1, 0), (1, 1))
    model.add_line((1, 0), (2, 0))
    save()
    refused(r"three ends of curves or more meet at \(1, 0, 0\)")
    model, save = drawn(20)
    model.add_line((0, 0), (1, 0))
    save()
    refused(r"number 20 of \$INSUNITS")
    model, save = drawn()
    model.add_lwpolyline([(0, 0), (2, 0), (2, 1), (1, 1), (1, -1)])
    save()
    refused(r"crosses itself, or comes back, at \(0\.001, 0, 0\) m")
    model, save = drawn()
    model.add_line((1, 1), (1, 1))
    save()
    refused("curves without a length only")
    for data in (b"", b"hello", b"0\nSECTION\n2\nENTITIES\n0\nLINE\n10\nfar\n", b"\0" * 100):
        Path("a.dxf").write_bytes(data)
        refused("a.dxf")


def test_without_ezdxf_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.dxf").write_bytes(b"0\nEOF\n")
    monkeypatch.setitem(sys.modules, "ezdxf", None)
    with pytest.raises(sn.InputError, match=r"\.dxf files need the package ezdxf.*pip install 'sennit\[cad\]'"):
        sn.read_curve("a.dxf")


def test_damaged_files_are_read_or_refused(tried) -> None:
    model, save = drawn()
    model.add_line((0, 0), (100, 0))
    model.add_arc((100, 100), radius=100, start_angle=270, end_angle=360)
    model.add_open_spline([(200, 100, 0), (200, 200, 0), (300, 400, 0), (300, 400, 100)])
    save()
    whole = Path("a.dxf").read_bytes()
    at = whole.index(b"ENTITIES")
    rng = random.Random(5)
    for k in range(30 * records.thorough()):
        name, data = (("b.dxf", bytearray(whole)), ("b.csv", bytearray(ROUTE.encode())))[k % 2]
        low = at if name == "b.dxf" else 0
        for _ in range(rng.choice((1, 2, 6))):
            place = rng.randrange(low, len(data))
            if rng.random() < 0.3:
                del data[place : place + rng.randrange(30)]
            else:
                data[place] = rng.choice(b'0123456789.-eE,\n"x\xff\0 ')
        Path(name).write_bytes(data)
        print(bytes(data[low:]))  # shown if it fails
        try:
            places = sn.read_curve(name)
        except sn.InputError as problem:
            assert "\n" not in str(problem) and len(str(problem)) < 1000
        else:
            assert np.isfinite(places).all() and len(places) > 1
        tried.count("damaged and hostile files")
