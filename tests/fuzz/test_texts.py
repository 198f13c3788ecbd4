"""Scene files and tables that are damaged or hostile: `InputError` with a line, at once, without a large allocation.

What is accepted steps on, or says why not, and stays finite.
"""

from __future__ import annotations

import random
import re
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest
import records
from fuzz.trial import finite
from unit.text.test_scene_text import SCENE

import sennit as sn
from sennit.harness.plan import read_plan
from sennit.harness.report import page_of
from sennit.harness.rest import build, read
from sennit.text.reading import read_scene, scene_of_text
from sennit.text.tables import read_table

TRIALS = 150 * records.thorough()
MOST_MEMORY = 60e6
VALUES = (
    "nan", "inf", "-inf", "-1", "0", "1e308", "1e-308", "1e999", "99999999999999999999999", "true", '"x"', '""', "[]",
    "{}", "[[]]", "[1, 2]", "[nan, 0, 0]", '["rope"]', '["world"]', '["world", {}]', '["rope", [0, 0]]', "{ x = 1 }",
    "1979-05-27", "07:32:00", '"a.csv"', '"/etc/passwd"', '"../x.stl"', '"\\u0000"', '"5 mm"', "{ box = [1, 1, 1] }",
    '[{ sphere = [[0, 0, 0], 1] }]', "[" * 50 + "]" * 50, '{ times = [0], places = [] }', "{ speed = 1e400 }",
    '["rope", "end", 1, 2]', '[["rope", 0.1], ["box", [0, 0, 0]]]', '"rope"', '"hemp"', '"box"', "0x7fffffffffffffff",
)  # fmt: skip


def read_or_refused(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            scene = scene_of_text(text, "scene.toml").scene
    except sn.InputError as error:
        message = str(error)
        assert len(message) < 1500 and "\n" not in message
        assert re.match(r"scene\.toml(, line \d+)?: ", message), message
        return False
    try:
        for _ in range(2):
            scene.step(1e-3)
    except (sn.InputError, sn.SolveError):
        pass
    assert finite(scene)
    return True


def test_poisoned_values(tried) -> None:
    """The value of a key is replaced, or a word of it."""
    rng = random.Random(1)
    rows = SCENE.split("\n")
    for _ in range(TRIALS):
        changed = rows.copy()
        k = rng.choice([k for k, row in enumerate(rows) if "=" in row])
        key, _, old = changed[k].partition("=")
        new = rng.choice(VALUES)
        words = list(re.finditer(r"[\w.\"-]+", old))
        if rng.random() < 0.5 and words:
            word = rng.choice(words)
            new = old[: word.start()] + new + old[word.end() :]
        changed[k] = f"{key}= {new}"
        print(changed[k])  # shown if it fails
        read_or_refused("\n".join(changed))
        tried.count("damaged and hostile files")


def test_damaged_texts(tried) -> None:
    """Letters, lines and tables are dropped, doubled and exchanged."""
    rng = random.Random(2)
    for _ in range(TRIALS):
        text = SCENE
        for _ in range(rng.choice((1, 1, 3))):
            rows = text.split("\n")
            i, j = rng.randrange(len(rows)), rng.randrange(len(rows))
            act = rng.randrange(5)
            if act == 0:
                del rows[i]
            elif act == 1:
                rows.insert(j, rows[i])
            elif act == 2:
                rows[i], rows[j] = rows[j], rows[i]
            elif act == 3 and rows[i]:
                at = rng.randrange(len(rows[i]))
                rows[i] = (
                    rows[i][:at] + chr(rng.choice((0, 9, 34, 39, 44, 46, 61, 91, 93, 123, 228, 0x202E))) + rows[i][at:]
                )
            else:
                rows = "\n".join(rows)[: rng.randrange(len(text) + 1)].split("\n")
            text = "\n".join(rows)
        print(text)
        read_or_refused(text)
        tried.count("damaged and hostile files")


BOMBS = {
    "brackets": "x = " + "[" * 100_000,
    "braces": "x = " + "{a=" * 20_000,
    "dots": "a" + ".a" * 50_000 + " = 1",
    "digits": "scene = { drag = " + "9" * 10_000 + " }",
    "entries": "[[load]]\n" * 20_001,
    "long name": f'[rod."{"x" * 100_000}"]',
    "a bell": '[rod."\\u0007"]\nstraight = [[0,0,0],[1,0,0]]',
    "counts": SCENE.replace("control_points = 12", "control_points = 9999999999"),
    "points": SCENE.replace("straight = [[0, 0, 0.5], [1, 0, 0.5]]", f"through = [{'[0,0,0],' * 10_000}]"),
    "mesh": "[obstacle.a]\nmesh = { vertices = [[0,0,0],[1,0,0],[0,1,0]], faces = [[0,1,9]] }",
    "field": "[obstacle.a]\nheightfield = { heights = [[1e308, -1e308], [nan, 0]], size = [1, 1] }",
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs(name: str, tried) -> None:
    tracemalloc.start()
    try:
        assert not read_or_refused(BOMBS[name])
        assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY
    finally:
        tracemalloc.stop()
    tried.count("damaged and hostile files")


TABLE = "name,x_m,y_m,z_m,note\nA,0,0,0.3,\nB,0.1,0,0.3,first\n# left out\n\nC,0.2,0,0.25,\n"
CELLS = (
    "",
    "nan",
    "inf",
    "1e999",
    "0,5",
    '"0,5"',
    "5 mm",
    "=1+1",
    "1_000",
    "\u0661",
    "'",
    '"',
    "\0",
    "0x10",
    "-",
    ";",
    "\r",
)


def table_or_refused(data: bytes, path: Path) -> bool:
    path.write_bytes(data)
    try:
        lines = read_table(path, ("name", "x_m", "y_m", "z_m"), ("note",))
        values = [line.number_of(key) for line in lines for key in ("x_m", "y_m", "z_m")]
        assert all(abs(value) < 1e308 for value in values)
        assert all(line.text("name") for line in lines)
    except sn.InputError as error:
        assert "table.csv" in str(error) and "\n" not in str(error) and len(str(error)) < 1000
        return False
    return True


def test_damaged_tables(tmp_path: Path, tried) -> None:
    path, rng = tmp_path / "table.csv", random.Random(3)
    assert table_or_refused(TABLE.encode(), path)
    for _ in range(TRIALS):
        rows = [row.split(",") for row in TABLE.split("\n")]
        row = rng.choice(rows)
        row[rng.randrange(len(row))] = rng.choice(CELLS)
        data = bytearray("\n".join(map(",".join, rows)).encode())
        if rng.random() < 0.5:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        print(bytes(data))
        table_or_refused(bytes(data), path)
        tried.count("damaged and hostile files")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name;x_m;y_m;z_m\nA;0;0;0\n", "line 1: the cells are parted by semicolons"),
        ("name,x,y_m,z_m\nA,0,0,0\n", "line 1: there is no column 'x': did you mean 'x_m'?"),
        ("name,x_m,y_m\nA,0,0\n", "line 1: the column z_m is missing"),
        ("name,x_m,y_m,z_m\nA,0,0,0,3\n", "line 2: 5 cells, but 4 columns"),
        ("name,x_m,y_m,z_m\nA,0,5,0,0\n", "are there decimal commas?"),
        ("name,x_m,y_m,z_m\n\nA,0,0,10mm\n", "line 3: z_m must be a number without a unit, got '10mm'"),
        ("name,x_m,y_m,z_m\n", "nothing stands below"),
        ("", "it is empty"),
        ("name,x_m,x_m,z_m\nA,0,0,0\n", "the column x_m is there twice"),
    ],
)
def test_what_is_wrong_in_a_table(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(sn.InputError, match=re.escape(words)):
        [line.number_of("z_m") for line in read_table(path, ("name", "x_m", "y_m", "z_m"), ("note",))]


ROUTE = "x_m,y_m,z_m\n0,0,0.30\n0.10,0,0.30\n0.24,0,0.25\n0.30,0,0.12\n0.42,0,0\n"
CLIPS = """name,kind,x_m,y_m,z_m,dx,dy,dz
A,connector,0,0,0.30,1,0,0
clip 1,clip,0.10,0,0.30,1,0,0
clip 2,clip,0.24,0,0.25,1,0,-1
clip 3,eye,0.30,0,0.12,,,
B,connector,0.42,0,0,1,0,0
"""
PLACES = ("0", "-1", "1e9", "1e-9", "1e308", "-1e308", "0.1", "0.25", "nan", "", "eye", "tie", "connector", "1e-320")
NUMBERS = {
    "EI": (0.012, 1e-6, 1e3, 1e300), "kg_per_m": (0.15, 1e-6, 1e300), "diameter_mm": (8.0, 1.0, 1e-6, 1e300),
    "bend_radius_mm": (60.0, 1.0, 1e9), "slack_mm": (0.0, 10.0, 500.0, 1e7),
}  # fmt: skip


def test_harnesses_of_spoilt_tables(tmp_path: Path, tried) -> None:
    """Laid and told in finite numbers, or refused; nothing else, and no warning of NumPy's."""
    rng = random.Random(4)
    for _ in range(TRIALS // 5):
        for name, table in (("route", ROUTE), ("clips", CLIPS)):
            rows = (
                [row.split(",") for row in table.split()]
                if name == "route"
                else [row.split(",") for row in table.strip().split("\n")]
            )
            for _ in range(rng.choice((0, 1, 1, 2))):
                row = rng.choice(rows[1:])
                row[rng.randrange(len(row))] = rng.choice(PLACES)
            (tmp_path / f"{name}.csv").write_text("\n".join(map(",".join, rows)) + "\n")
        numbers = {key: rng.choice(values) if rng.random() < 0.2 else values[0] for key, values in NUMBERS.items()}
        print(numbers, (tmp_path / "route.csv").read_text(), (tmp_path / "clips.csv").read_text())
        tried.count("damaged and hostile files")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                plan = read_plan(tmp_path / "route.csv", tmp_path / "clips.csv", None, numbers)
                made = build(plan, points=24)
            except sn.InputError as error:
                assert len(str(error)) < 1000 and "\n" not in str(error)
                continue
            rest = read(made)
            assert "<svg" in page_of(rest, "spoilt", [])
            for one in rest.cables:
                assert np.isfinite(one.line).all() and np.isfinite(one.radius).all() and np.isfinite(one.tension).all()


def test_a_file_that_is_too_long(tmp_path: Path) -> None:
    path = tmp_path / "scene.toml"
    with path.open("wb") as file:
        file.truncate(1 << 33)
    with pytest.raises(sn.InputError, match="more than 32 MiB"):
        read_scene(path)
