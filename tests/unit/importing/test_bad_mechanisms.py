"""URDF and MJCF files that are none, or that ask for what there is not: file, line, near name, and nothing written."""

from __future__ import annotations

import os
import random
import re
import sys
from pathlib import Path

import pytest
import records

import sennit as sn

pytest.importorskip("mujoco", reason="MuJoCo is not installed: pip install 'sennit[mechanisms]'")

LINK = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
TWO = f"""<robot name="r">
<link name="a">{LINK}</link>
<link name="b">{LINK}</link>
<joint name="knee" type="revolute"><parent link="a"/><child link="b"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>"""  # noqa: E501
MJCF = """<mujoco><worldbody>
<body name="a"><joint name="hip" type="hinge"/><joint type="slide" axis="1 0 0"/><geom size="0.1"/></body>
</worldbody></mujoco>"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MuJoCo writes warnings to a file in the present folder, if it is let."""
    monkeypatch.chdir(tmp_path)


def refused(name: str, text: str | bytes, message: str, **options: object) -> None:
    Path(name).write_bytes(text.encode() if isinstance(text, str) else text)
    before = sorted(os.listdir())
    with pytest.raises(sn.InputError, match=message) as problem:
        sn.read_mechanism(name, **options)  # type: ignore[arg-type]
    assert "\n" not in str(problem.value) and sorted(os.listdir()) == before


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.urdf", TWO.replace("</link>", "", 1), r"'a\.urdf', line \d: this is no XML"),
        ("a.urdf", TWO.replace('child link="b"', 'child link="c"'), r"'a\.urdf', line 4: .*child missing"),
        ("a.urdf", TWO.replace('mass value="1"', 'mass value="-1"', 1),
         r"'a\.urdf': the mass of 'a' must not be negative, got -1 kg"),
        ("a.urdf", TWO.replace(LINK, f'{LINK}<collision><geometry><mesh filename="package://r/x.stl"/></geometry>'
         '</collision>', 1), r"'a\.urdf': there is no file 'package:.*/r/x\.stl' .*: did you mean 'y\.stl'"),
        ("a.urdf", TWO.replace('mass value="1"', 'mass value="nan"'), "a.urdf"),
        ("a.urdf", TWO.replace('ixx="1"', 'ixx="3"', 1), r"'a\.urdf'.*inertia"),
        ("a.urdf", TWO.replace(LINK, f'{LINK}<collision><geometry><mesh filename="x.stl"/></geometry></collision>', 1),
         r"'a\.urdf'.*x\.stl'?: did you mean 'y\.stl'"),
        ("a.urdf", TWO.replace(LINK, f'{LINK}<collision><geometry><mesh filename="y.stl"/></geometry></collision>', 1),
         r"'a\.urdf'"),
        ("a.xml", MJCF, r"'a\.xml': 'a' has 2 joints"),
        ("a.xml", MJCF.replace('type="hinge"', 'type="hing"'), r"'a\.xml', line 2"),
        ("a.xml", MJCF.replace("<worldbody>", '<asset><mesh name="m" file="../../etc/m.stl"/></asset><worldbody>'),
         r"names a mesh outside of its folder"),
        ("a.xml", MJCF.replace("<worldbody>", '<asset><mesh name="m" file="/etc/m.stl"/></asset><worldbody>'),
         r"names a mesh outside of its folder"),
        ("a.xml", MJCF.replace("<worldbody>", '<asset><mesh name="m" file="link.stl"/></asset><worldbody>'),
         r"names a mesh that is a link, 'link\.stl'"),
        ("a.xml", MJCF.replace("<worldbody>", '<include file="&#46;&#46;/b.xml"/><worldbody>'),
         r"names a file outside of its folder, '\.\./b\.xml'"),
        ("a.xml", MJCF.replace("<worldbody>", '<include file="b.xml"/><worldbody>'),
         r"'b\.xml' names a file outside of its folder, '/etc/c\.xml'"),
        ("a.xml", MJCF.replace("<worldbody>", '<include file="nob.xml"/><worldbody>'),
         r"there is no file 'nob\.xml': did you mean 'b\.xml'"),
        ("a.xml", MJCF.replace("<worldbody>", '<include file="a.xml"/><worldbody>'), r"'a\.xml'"),
        ("a.xml", '<!DOCTYPE a [<!ENTITY b "c">]>' + MJCF, r"'a\.xml' declares what its own names mean"),
        ("a.urdf", "<a>" * 10_000, r"'a\.urdf', line 1: this is no XML"),
        ("a.urdf", "<a>" * 100_000, r"'a\.urdf', line 1: with this <a> the file asks for 20001 elements"),
        ("a.urdf", b"PK\x03\x04 and the rest", "is a spreadsheet or an archive"),
        ("a.urdf", b"\x1f\x8b\x08", "this is no UTF-8 text"),
        ("a.urdf", b"<robot>\n\0</robot>", r"'a\.urdf', line 2: this is no text"),
        ("a.urdf", b"<robot>\n\xff</robot>", r"'a\.urdf', line 2: this is no UTF-8 text"),
        ("a.urdf", "a pendulum", "line 1: this is no XML"),
        ("a.urdf", "", "line 1: this is no XML"),
        ("a.dae", TWO, r"path must end in \.urdf or \.xml or \.mjcf, got 'a\.dae'"),
    ],
)  # fmt: skip
def test_files(name: str, text: str | bytes, message: str) -> None:
    Path("y.stl").write_bytes(b"no mesh")
    os.symlink("y.stl", "link.stl")
    Path("b.xml").write_text('<mujoco>\n<include file="/etc/c.xml"/></mujoco>')
    refused(name, text, message)


BALL = '<body><freejoint/><geom size="1"/></body>'


def mjcf(world: str, before: str = "") -> str:
    return f"<mujoco>{before}\n<worldbody>\n{world}\n</worldbody></mujoco>"


def copied(count: object, what: str = BALL) -> str:
    return f'<replicate count="{count}">{what}</replicate>'


DOUBLED = '<body name="b0"/>' + "".join(
    f'<body name="b{k + 1}"><attach body="b{k}" prefix="x"/><attach body="b{k}" prefix="y"/></body>' for k in range(40)
)
GREEDY = [
    (mjcf(copied(100_000_000)),
     r"'a\.xml', line 3: with this <replicate> the file asks for 100000002 elements; at most 20000"),
    (mjcf(copied(4_001)), r"line 3: with this <body> the file asks for 4001 bodies"),
    (mjcf(copied(100, copied(100, copied(100)))), r"<replicate> the file asks for \d+ elements"),
    (mjcf(copied(10**8, "")), r"<replicate> the file asks for 100000002 elements; at most 20000"),
    (mjcf(copied("9" * 40)), r"<replicate> the file asks for more than 10\^12 elements"),
    (mjcf('<flexcomp name="f" type="grid" count="3000 3000 1" spacing="1 1 1" radius=".1"/>'),
     r"<flexcomp> the file asks for 9000000 bodies"),
    (mjcf('<composite type="grid" count="3000 3000 1" spacing="1"/>'), r"<composite> the file asks for 9000000 bodies"),
    (mjcf(copied(1_000, '<include file="b.xml"/>')),
     r"'b\.xml', line 2: with this <replicate> the file asks for 103002 elements"),
    (mjcf(DOUBLED), r"'a\.xml', line 3: with this <attach> the file asks for \d+ bodies"),
    (mjcf("", "<asset>" + "".join(f'<model name="m{k}" file="c.xml"/>' for k in range(50)) + "</asset>"),
     r"'a\.xml', line 1: with this <model> the file asks for \d+ bodies"),
    (mjcf(copied(50, '<attach model="c" prefix="x"/>'), '<asset><model name="c" file="c.xml"/></asset>'),
     r"'a\.xml', line 3: with this <attach> the file asks for \d+ bodies"),
    (mjcf("", '<asset><model file="a.xml"/></asset>'), r"'a\.xml', line 1: the model 'a\.xml' would hold itself"),
    (mjcf("", '<asset><model file="/etc/a.xml"/></asset>'), r"names a file outside of its folder, '/etc/a\.xml'"),
    (mjcf("", '<asset><model file="a.mjb"/></asset>'), r"a model to attach must end in \.urdf or \.xml or \.mjcf"),
    (mjcf(BALL, '<asset><hfield name="h" nrow="60000" ncol="60000" size="1 1 1 1"/></asset>'),
     r"'a\.xml', line 1: with this <hfield> the file asks for 3600000000 cells of height fields"),
    (mjcf(BALL, '<default><texture width="60000"/></default>'
     '<asset><texture name="t" type="2d" builtin="flat" height="60000"/></asset>'),
     r"the texture 't'.* asks for 10800000000 numbers"),
    (mjcf(BALL, '<size nuser_body="100000000"/>'), "nuser_body asks for 100000000 numbers; at most 1000"),
    (mjcf(BALL, '<size nkey="100000000"/>'), "nkey asks for 100000000 numbers; at most 1000"),
    (mjcf(f'<geom size="1" user="{"1 " * 6_000}"/>'), "<geom> has more than 10000 letters of its user's"),
]  # fmt: skip
"""A few lines that ask for more than a machine has: MuJoCo's compiler would begin to make it."""


@pytest.mark.parametrize(("text", "message"), GREEDY, ids=[message[:50] for _, message in GREEDY])
def test_files_that_ask_for_too_much(text: str, message: str) -> None:
    Path("b.xml").write_text(f"<mujoco>\n{copied(100)}</mujoco>")
    Path("c.xml").write_text(mjcf(copied(100)))
    refused("a.xml", text, message)


def test_files_that_ask_for_much() -> None:
    """Copies of copies, a grid of points and what is attached: as MuJoCo has them."""
    world = copied(3, copied(4)) + '<body name="hand"><geom size="1"/></body>'
    world += (
        '<body name="arm"><geom size="1"/><attach body="hand" prefix="left "/><attach model="c" prefix="c "/></body>'
    )
    Path("c.xml").write_text(mjcf('<body name="one"><geom size="1"/></body>'))
    Path("a.xml").write_text(mjcf(world, '<size memory="900M"/><asset><model name="c" file="c.xml"/></asset>'))
    assert len(sn.read_mechanism("a.xml").bodies) == 3 * 4 + 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": {"kne": 0.1}}, r"start must name hinges and slides of 'a\.urdf', got 'kne' \(did you mean 'knee'"),
        ({"motors": {"elbow": 0.1}}, r"motors must name hinges and slides of 'a\.urdf', got 'elbow'"),
        ({"start": {"knee": 1.5}}, "start of 'knee' must be within its limits, -1 to 1, got 1.5"),
        ({"start": {"knee": "far"}}, "start of 'knee' must be a finite number"),
        ({"start": 0.1}, "start must map names of joints"),
        ({"motors": {1: 2}}, "motors must map names of joints"),
        ({"motors": {"knee": 1.0}}, r"'a\.urdf': 'knee': a motor of unlimited torque would break the limits"),
        ({"motors": {"knee": "quick"}}, "'knee': motor must be"),
        ({"pose": (0, 0, 1)}, r"pose must be a sennit\.Pose"),
    ],
)  # fmt: skip
def test_arguments(options: dict[str, object], message: str) -> None:
    refused("a.urdf", TWO, message, **options)


def test_names_of_links_and_of_files() -> None:
    Path("robot.urdf").write_text(TWO)
    with pytest.raises(sn.InputError, match=r"there is no file 'robo\.urdf': did you mean 'robot\.urdf'\?"):
        sn.read_mechanism("robo.urdf")
    os.symlink("robot.urdf", "link.urdf")
    with pytest.raises(sn.InputError, match=r"'link\.urdf' is a link"):
        sn.read_mechanism("link.urdf")
    os.mkdir("folder.urdf")
    with pytest.raises(sn.InputError, match=r"'folder\.urdf' is no plain file"):
        sn.read_mechanism("folder.urdf")
    for path in (3, None, "a\0.urdf"):
        with pytest.raises(sn.InputError, match="path must be the name of a URDF or MJCF file"):
            sn.read_mechanism(path)  # type: ignore[arg-type]
    robot = sn.read_mechanism("robot.urdf")
    with pytest.raises(sn.InputError, match=r"link must be a body of 'r' \(did you mean 'b'\?\), got 'bb'"):
        robot.at("bb")
    with pytest.raises(sn.InputError, match="has no attribute"):
        robot.bodys = {}


def test_without_mujoco_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    refused("a.urdf", TWO, r"\.urdf files need the package mujoco.*pip install 'sennit\[mechanisms\]'")


TOKENS = ("nan", "inf", "-1", "1e308", "0", "1e-308", "", "a", "<", '"', "99999999999", "0 0 0 0 0 0 0")


def test_damaged_files_are_read_or_refused(tried) -> None:
    """MuJoCo's compiler is not ours: 3,000 such files were given to it once, and none ended the process."""
    rng = random.Random(4)
    for _ in range(60 * records.thorough()):
        name, text = rng.choice((("a.urdf", TWO), ("a.xml", MJCF.replace('<joint type="slide" axis="1 0 0"/>', ""))))
        for _ in range(rng.choice((1, 1, 3))):
            numbers = list(re.finditer(r"[-\d.]+", text))
            if rng.random() < 0.5 and numbers:
                found = rng.choice(numbers)
                text = text[: found.start()] + rng.choice(TOKENS) + text[found.end() :]
            else:
                at = rng.randrange(len(text))
                text = text[:at] + text[at + rng.randrange(40) :]
        Path(name).write_text(text)
        print(text)  # shown if it fails
        try:
            robot = sn.read_mechanism(name)
            scene = sn.Scene()
            robot.add_to(scene)
            scene.step(1e-3)
        except (sn.InputError, sn.SolveError) as problem:
            assert "\n" not in str(problem) and len(str(problem)) < 1000
        else:
            assert all(abs(body.position).max() < 1e300 for body in scene.bodies)
        assert not Path("MUJOCO_LOG.TXT").exists()
        tried.count("damaged and hostile files")
