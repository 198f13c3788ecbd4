"""Tissue in a loop on a page: what is seen is what is felt, the mouse leads the hand, and bones are led meanwhile."""

from __future__ import annotations

import time
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sennit as sn
from sennit import InputError
from sennit.bodies.zone.felt import FeltBody
from sennit.controls import Dashboard
from sennit.haptics import HapticLoop, MouseDevice, ScriptedDevice
from sennit.haptics.board import Board
from sennit.haptics.bones import SMOOTHING, SPEED, TURNING, LiveBones, asked_rows
from sennit.haptics.engine import Engine, Limits
from sennit.haptics.shown import LoopHost
from sennit.haptics.tissue import TissueSubject
from sennit.haptics.tissue_shown import TissuePlay
from sennit.haptics.tissue_stage import TissueStage
from sennit.haptics.tool import ToolSubject
from tests.unit.haptics.test_tissue import DT, FIRM, bent, chain  # noqa: F401  the chain is a fixture


class Both:
    """A loop's subject under an engine, and the play that shows it, in one process and as fast as it goes."""

    def __init__(self, path: Path, tissue: sn.ZoneChain, tool: sn.Sphere | None = None) -> None:
        self.tissue, self.mouse = tissue, MouseDevice(smoothing=0.005)
        self.bones = LiveBones(tissue, DT)
        body = FeltBody(tissue, 5e-3)
        self.subject: Any = (
            TissueSubject(body, FIRM, DT, 0.3, self.bones) if tool is None
            else ToolSubject(body, tool, FIRM, DT, 0.3, self.bones)
        )  # fmt: skip
        self.stage = TissueStage(self.subject)
        self.board, self.panel, self.told = Board(path / "board", make=True), Dashboard(), []
        limits = Limits(np.inf, np.inf, np.inf, np.inf)
        self.engine = Engine(self.subject, self.mouse, self.board, period=DT, limits=limits)
        self.play = TissuePlay(
            tissue, self.board, self.told.append, panel=self.panel, mouse=self.mouse, dt=DT, tool=tool
        )
        self.play.watch(self.stage.memory)

        self.subject.rehearse()

    def run(self, ticks: int) -> None:
        for _ in range(ticks):
            self.engine.tick()
        self.stage.show(1e-4)
        self.play.look()

    def take(self) -> int:
        """Drag the probe to just above the middle of the second block; returns its part."""
        parts = [part.name for part in self.play.portrait.cast.parts]
        held = parts.index("probe" if "probe" in parts else "tool")
        self.run(1)
        self.play.grab(held, np.zeros(3))
        return held


@pytest.fixture
def both(tmp_path: Path, chain: sn.ZoneChain) -> Both:  # noqa: F811
    return Both(tmp_path, chain)


def drag(both: Both, goal: tuple[float, float, float], ticks: int = 100) -> None:
    start = both.play.hand.position.copy()
    for share in np.linspace(0.0, 1.0, 21)[1:]:
        both.play.drag(start + share * (np.array(goal) - start))
        both.run(ticks // 20)
    both.run(60)


def test_what_is_seen_is_the_surface_under_the_force_that_is_felt(both: Both) -> None:
    both.take()
    drag(both, (0.045, 0.01, 0.018))
    drag(both, (0.045, 0.01, 0.0105))
    play, subject = both.play, both.subject
    assert subject.touching and np.linalg.norm(play.force) > 0.1
    np.testing.assert_allclose(play.force, -subject.wrench[:3])
    np.testing.assert_allclose(play.tip.position, subject.contact.tip[0])
    ids, weights = subject.body.patch(subject.anchor)
    loads: dict[int, Any] = {0: {}, 1: {}}
    for k, w in zip(ids, weights, strict=True):
        z, v = int(subject.body.vertex_zone[k]), int(subject.body.vertex_of[k])
        loads[z][v] = w * subject.wrench[:3]
    exact = both.tissue.solve(both.tissue.rest_poses, loads=loads).positions()
    for seen, wanted in zip(play.positions, exact, strict=True):  # in single precision
        np.testing.assert_allclose(seen, wanted, atol=1e-8)
    assert play.watches[-1].read() == pytest.approx(1e3 * max(m.max() for m in play._moved()))
    # The skin is where the probe is: the patch's mean place.
    mean = sum(w * play.positions[subject.body.vertex_zone[k]][subject.body.vertex_of[k]]
               for k, w in zip(ids, weights, strict=True))  # fmt: skip
    np.testing.assert_allclose(mean, play.tip.position, atol=2e-5)
    frame = play.portrait.capture()
    views = play.portrait.cast.views(frame)
    np.testing.assert_array_equal(views[1].vertices, play.positions[1])
    arrow = views[-1].centres
    assert views[-1].shown[0] == 1.0 and (arrow[1] - arrow[0]) @ play.force > 0.0


def test_a_hand_that_lets_go_waits_outside_and_takes_hold_again(both: Both) -> None:
    held = both.take()
    drag(both, (0.045, 0.01, 0.018))
    drag(both, (0.045, 0.01, 0.0100))
    assert both.play.holding and both.subject.touching
    both.play.release()
    both.run(5)
    assert not both.subject.touching and not both.play.force.any() and not both.play.holding
    assert both.play.hand.position[2] > 0.012 + 0.9 * 0.06 * both.play.size
    both.play.grab(held, np.zeros(3))  # taken hold of outside, it feels the skin again
    both.run(5)
    drag(both, (0.045, 0.01, 0.0105))
    assert both.subject.touching and both.play.force[2] > 0.1
    with pytest.raises(InputError, match="take the probe or the tool"):
        both.play.grab(0, 3)
    both.play.reset()
    both.run(1)
    assert not both.play.holding and not both.play.force.any()
    for call in (both.play.step, lambda: both.play.pin(0, 1), lambda: both.play.switch(0, True),
                 lambda: both.play.remove(0), lambda: both.play.set_gravity(np.zeros(3))):  # fmt: skip
        with pytest.raises(InputError):
            call()


def test_a_tool_is_seen_where_it_is_and_its_imprint_is_that_of_press(tmp_path: Path, chain: sn.ZoneChain) -> None:  # noqa: F811
    both = Both(tmp_path, chain, sn.Sphere((0.0, 0.0, 0.0), 0.008))
    both.take()
    drag(both, (0.045, 0.01, 0.024))
    drag(both, (0.045, 0.01, 0.0185))
    assert both.subject.touching and both.play.force[2] > 0.1
    top = both.play.positions[1]
    inside = 0.008 - np.linalg.norm(top - both.play.tip.position, axis=1)
    assert -1e-9 < inside.max() < 2e-5  # vertices of the skin that is seen touch the ball, and are not in it


def test_bones_are_led_smoothly_and_arrive(chain: sn.ZoneChain) -> None:  # noqa: F811
    bones = LiveBones(chain, DT)
    assert bones.step() is None
    bones.ask(asked_rows(chain, bent(0.4)))
    way = [bones.poses]
    while (poses := bones.step()) is not None:
        way.append(poses)
        assert len(way) < 2000
    np.testing.assert_array_equal(way[-1][1].position, bent(0.4)[1].position)
    steps = [np.linalg.norm(b[1].position - a[1].position) for a, b in zip(way, way[1:], strict=False)]
    turns = [
        2.0 * np.arccos(min(abs(a[1].quaternion @ b[1].quaternion), 1.0)) for a, b in zip(way, way[1:], strict=False)
    ]
    assert max(steps) <= SPEED * DT * (1 + 1e-9) and max(turns) <= TURNING * DT * (1 + 1e-6)
    assert max(turns) == pytest.approx(TURNING * DT, rel=1e-3)  # a third of a radian is far
    assert len(way) > 0.4 / (TURNING * DT) + 3 * SMOOTHING / DT


def test_bones_that_would_be_torn_stay(chain: sn.ZoneChain) -> None:  # noqa: F811
    with pytest.raises(InputError, match="tear seam 0 apart.*mm apart.*stay where they are"):
        asked_rows(chain, [sn.Pose(), sn.Pose((0.05, 0.0, 0.0))])
    with pytest.raises(InputError, match="2 sennit.Pose"):
        asked_rows(chain, [sn.Pose()])
    bones = LiveBones(chain, DT)
    # Half a turn of all about a far axis: on the straight way between, the second block leaves the first.
    over = sn.Pose((0.06, 0.02, 0.0), (0.0, 0.0, 0.0, 1.0))
    turned = [over, over @ bent(-2.4)[1]]
    bones.ask(asked_rows(chain, turned))
    while bones.step() is not None:
        pass
    assert "seam 0 would be torn" in bones.refused
    kept = bones.poses
    bones.ask(asked_rows(chain, kept))
    assert bones.refused == ""


def test_bones_that_are_led_push_the_hand(both: Both) -> None:
    both.take()
    drag(both, (0.05, 0.01, 0.0135))
    assert not both.play.force.any()
    both.bones.ask(asked_rows(both.tissue, bent(-0.25)))
    both.run(300)
    assert both.play.force[2] > 0.05
    np.testing.assert_allclose(both.play._frame.poses[1].position, bent(-0.25)[1].position, atol=1e-6)
    host = LoopHost(both.play, both.told.append)
    host.advance(0.0)
    assert host._failure == ""


def test_a_loop_of_tissue_on_a_page_with_live_bones(chain: sn.ZoneChain) -> None:  # noqa: F811
    mouse = MouseDevice(smoothing=0.005)
    few = sn.ZoneChain(list(chain.zones), [s.vertices for s in chain.seams], method="modes", modes=16)
    with HapticLoop(few, mouse, coupling=FIRM, probe=5e-3, skeleton="live") as loop:
        joint = loop.panel.control("joint", lambda rad: loop.pose(bent(rad)), 0.0, range=(-0.5, 0.5), unit="rad")
        url = loop.view(port=0, browser=False)
        assert urllib.request.urlopen(url, timeout=60).status == 200
        assert loop._shown is not None
        play: Any = loop._shown._play
        assert list(play.controls) == [joint]
        mouse.move((0.05, 0.01, 0.0135))
        mouse.grab()
        joint.use(-0.25)
        deadline = time.monotonic() + 60.0
        while play.force[2] < 0.05:  # what the page shows comes from the loop
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert loop.force[2] > 0.0
        with pytest.raises(InputError, match="tear seam 0"):
            loop.pose([sn.Pose(), sn.Pose((0.05, 0.0, 0.0))])
    assert loop.statistics.failed == 0
    with pytest.raises(InputError, match="does not run"):
        loop.pose(bent(0.0))
    hand = ScriptedDevice(np.tile((0.02, 0.02, 0.03), (10, 1)))
    with pytest.raises(InputError, match='skeleton="live"'):
        HapticLoop(chain, hand, coupling=FIRM).pose(bent(0.0))
