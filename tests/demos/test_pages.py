"""Demonstrations as a page runs them: they step, are seen, touched, changed by every control, and begin again."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sennit import cli
from sennit.demos import (
    bow,
    boxes,
    bridge,
    bundle,
    crane,
    dna,
    elevator,
    fishing,
    load,
    necklace,
    net,
    stage,
    tackle,
    turnabout,
)  # fmt: skip
from sennit.live.play import Play

NAMES = (
    "bridge", "necklace", "bow", "bundle", "net", "dna", "boxes", "turnabout", "fishing", "crane", "tackle",
    "elevator", "landing", "windlass", "pile", "gripper", "knot", "plectoneme", "vessel", "wire",
)  # fmt: skip
BARE = ("necklace", "dna", "boxes", "knot")
"""Demonstrations without decor."""


@pytest.fixture(scope="module")
def plays() -> Callable[[str], Play]:
    """Gives the play of a demonstration, where it begins."""
    made: dict[str, Play] = {}

    def give(name: str) -> Play:
        if name not in made:
            made[name] = load(name).play()
        made[name].reset()
        return made[name]

    return give


def seen(play: Play) -> np.ndarray:
    """The frame, with nothing of what is hidden."""
    cast, frame = play.portrait.cast, play.portrait.capture().copy()
    assert np.isfinite(frame).all()
    for part, view, start in zip(cast.parts, cast.views(frame), cast.offsets, strict=True):
        if not view.shown[0]:
            frame[start : start + part.size] = 0.0
    return frame


def run(play: Play, steps: int = 20) -> np.ndarray:
    for _ in range(steps):
        play.step()
    return seen(play)


def bodies(play: Play) -> list[int]:
    return [k for k, part in enumerate(play.portrait.cast.parts) if part.role == "body"]


@pytest.mark.parametrize("name", NAMES)
def test_it_steps_is_seen_and_begins_again(name: str, plays: Callable[[str], Play]) -> None:
    play = plays(name)
    first, begun = seen(play), play.time
    frame = run(play)
    assert play.time == pytest.approx(begun + 20 * play.dt)
    assert frame.shape == first.shape
    play.reset()
    assert play.time == begun
    assert (seen(play) == first).all()
    again = run(play)
    assert (again == frame).all()  # and what it does is the same


@pytest.mark.parametrize("name", NAMES)
def test_it_offers_something_to_change_and_to_plot(name: str, plays: Callable[[str], Play]) -> None:
    play = plays(name)
    assert play.controls and play.watches
    assert all(np.isfinite(watch.read()) for watch in play.watches)
    assert "decor" in {part.role for part in play.portrait.cast.parts} or name in BARE


@pytest.mark.parametrize("name", NAMES)
def test_each_control_works_at_both_ends(name: str, plays: Callable[[str], Play]) -> None:
    play = plays(name)
    run(play)
    for control in play.controls:
        for value in control.range or ((None,) if control.kind == "button" else (False, True)):
            control.use(value)
            assert control.kind == "button" or control.value == value
            run(play)
            assert all(np.isfinite(watch.read()) for watch in play.watches)
    play.reset()
    assert [control.value for control in play.controls] == [control.start for control in play.controls]


@pytest.mark.parametrize("name", NAMES)
def test_a_body_can_be_dragged(name: str, plays: Callable[[str], Play]) -> None:
    play = plays(name)
    part = bodies(play)[-1]
    place = 0.5 if play.portrait.cast.parts[part].kind == "tube" else np.zeros(3)
    first = seen(play)
    play.grab(part, place)
    hand, held = play.grip
    assert play.holding and hand == pytest.approx(held)
    play.drag(hand + 0.1)
    run(play, 40)
    play.release()
    assert not play.holding
    run(play)
    play.reset()
    assert (seen(play) == first).all()


def test_moving_a_slider_takes_over_from_the_script(plays: Callable[[str], Play]) -> None:
    play = plays("crane")
    pilot, winch = play.controls[0], play.controls[1]
    assert pilot.value is True
    winch.use(1.0)
    assert pilot.value is False
    play.reset()
    assert pilot.value is True and winch.value == 0.0


def test_the_walker_turns_round() -> None:
    show = bridge.Walk()
    play = show.play()
    play.controls[2].use(5.0)
    ways = []
    for _ in range(int(6.0 / play.dt)):
        play.step()
        ways.append(show.way)
    assert max(ways) == bridge.SPAN and ways[-1] < 0.6 * bridge.SPAN
    assert min(ways) >= 0.0
    # and walks on the ropes
    height = show.walker.position[2]
    assert bridge.HEIGHT - 1.5 * bridge.SAG < height < bridge.HEIGHT


def test_a_heavier_person_pulls_harder(plays: Callable[[str], Play]) -> None:
    play = plays("bridge")
    pulls = []
    for weight in (0.0, 250.0):
        play.reset()
        play.controls[1].use(weight)
        run(play, 600)
        pulls.append(play.watches[1].read())
    assert pulls[1] > 2.0 * pulls[0]


def test_the_necklace_is_thrown_and_caught() -> None:
    show = necklace.Flight(necklace.FRICTION, necklace.NYLON, waiting=True)
    play = show.play()
    low = necklace.centre_of_mass(show.necklace)[2]
    show.throw()
    heights = []
    for _ in range(int(1.2 / play.dt)):
        play.step()
        heights.append(necklace.centre_of_mass(show.necklace)[2])
    # v²/2g, less some for the drag of the air
    assert max(heights) - low == pytest.approx(show.throwing**2 / (2.0 * 9.81), rel=0.15)
    assert show.hand.enabled
    assert np.linalg.norm(show.clasp.position - show.hand.target) < 0.1


def test_pearls_are_threaded_one_after_the_other() -> None:
    show = necklace.Flight(necklace.FRICTION, necklace.NYLON, waiting=True)
    play = show.play()
    pearls = show.necklace.pearls
    row = show.holders[1].points[0].position[2]
    assert min(pearl.position[2] for pearl in pearls) > row - 0.02  # they wait above where the row ends
    gone = []
    while show.holders[0].enabled:
        play.step()
        gone.append(sum(pearl.position[2] < row - 0.03 for pearl in pearls))
    assert sorted(set(gone)) == list(range(len(pearls) + 1)) and gone[-1] == len(pearls)
    assert np.all(np.diff([pearl.s for pearl in pearls]) > 0.0)  # none has passed another
    assert play.time < 10.0


def test_the_arrow_sticks_in_the_target_and_a_new_one_is_nocked() -> None:
    show = bow.Shot()
    play = show.play()
    draw, shoot = play.controls[1], play.controls[2]
    draw.use(0.3)
    for _ in range(int(1.0 / play.dt)):
        play.step()
    assert show.back == pytest.approx(0.3) and play.watches[0].read() > 30.0
    shoot.use()
    fastest = 0.0
    for _ in range(int(0.4 / play.dt)):
        play.step()
        fastest = max(fastest, play.watches[1].read())
    assert fastest > 15.0
    tip = show.bow.arrow.centerline(2)[-1]
    assert bow.TARGET <= tip[0] < bow.TARGET + 0.3 and abs(tip[1]) < 0.1
    time = play.time
    draw.use(0.1)  # which needs a new arrow
    run(play)
    assert play.time > time
    assert show.bow.arrow.centerline(2)[-1][0] < 1.0 and not show.bow.rest.released


def test_a_new_arrow_waits_until_nothing_is_held(plays: Callable[[str], Play]) -> None:
    from sennit.errors import InputError

    play = plays("bow")
    play.grab(bodies(play)[0], 0.5)
    with pytest.raises(InputError, match="nothing is held"):
        play.controls[3].use()
    play.release()
    play.controls[3].use()


def test_a_stopped_elevator_slips() -> None:
    show = elevator.Ride()
    play = show.play()
    play.controls[1].use(2.0)
    for _ in range(int(2.5 / play.dt)):
        play.step()
    assert play.watches[0].read() == pytest.approx(2.0, abs=0.05)
    assert abs(show.slipped) < 0.01
    play.controls[2].use()
    for _ in range(int(2.0 / play.dt)):
        play.step()
    assert show.slipped > 0.5


def test_the_crane_sets_its_load_down_where_it_should() -> None:
    show = crane.Manoeuvre()
    play = show.play()
    for _ in range(int(32.0 / play.dt)):
        play.step()
        if show.errand == 4:
            break
    angle, reach = crane.GOAL
    goal = reach * np.array((np.cos(angle), np.sin(angle)))
    assert show.errand == 4
    assert np.linalg.norm(show.crane.load.position[:2] - goal) < 0.4
    assert 0.0 < show.bottom() < 0.6


def test_drives_stop_at_their_ends() -> None:
    show = crane.Manoeuvre()
    play = show.play()
    for control in play.controls[1:]:
        control.use(control.range[1])
    for _ in range(int(25.0 / play.dt)):
        play.step()
    reach = crane.OUT + show.crane.travel.displacement
    assert crane.TIP - 1.5 < reach < crane.TIP - 1.0
    assert show.crane.hook.position[2] < crane.RAIL - 1.5


def test_weights_are_hauled_up_again() -> None:
    show = tackle.Lift()
    play = show.play()
    heights = []
    for _ in range(int(10.8 / play.dt)):
        play.step()
        heights.append(show.tackles[0].weight.position[2])
    assert min(heights) == pytest.approx(tackle.GROUND, abs=0.02)
    assert heights[-1] > tackle.START - 0.5


def test_stiffness_of_boxes_changes_their_period() -> None:
    show = boxes.Bench()
    play = show.play()

    def period() -> float:
        values = []
        for _ in range(1200):
            play.step()
            values.append(show.stretched.cable.elongation)
        y = np.array(values) - np.mean(values)
        up = np.flatnonzero((y[:-1] < 0.0) & (y[1:] >= 0.0))
        return float(np.diff(up).mean()) * play.dt

    assert period() == pytest.approx(show.stretched.period, rel=0.02)
    play.controls[0].use(3.6)
    show.stretched.swing(0.5)
    assert period() == pytest.approx(show.stretched.period, rel=0.05)


def test_couples_wind_the_molecule_and_the_pull_draws_the_hub() -> None:
    for show, control, value, least in ((dna.Winding(), 1, 30.0, 0.1), (net.Pluck(), 1, 2.0, 20.0)):
        play = show.play()
        play.controls[control].use(value)
        run(play, 800)
        assert play.watches[0].read() > least


def test_the_winch_brings_the_box_to_the_tip() -> None:
    show = fishing.Outing()
    play = show.play()
    play.controls[2].use(0.0)
    lengths = []
    for speed, seconds in ((2.0, 2.0), (-2.0, 3.0)):
        play.controls[1].use(speed)
        run(play, int(seconds / play.dt))
        lengths.append(show.tackle.line.length - fishing.LENGTH)
    assert lengths[0] > 4.0
    assert 0.4 < lengths[1] < 0.6


def test_a_tug_and_a_push_are_felt() -> None:
    for show, control, value, watch in ((bundle.Laying(), 1, 30.0, 0), (turnabout.Ride(), 0, 150.0, None)):
        play = show.play()
        run(play, 100)
        before = show.scene.linear_momentum.copy() if watch is None else play.watches[watch].read()
        play.reset()
        play.controls[control].use(value)
        run(play, 100)
        after = show.scene.linear_momentum.copy() if watch is None else play.watches[watch].read()
        assert np.abs(np.subtract(after, before)).max() > 1.0


# The command


@pytest.mark.parametrize("name", NAMES)
def test_a_short_run_without_a_page_writes_nothing(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(stage, "draw", lambda *arguments, **options: pytest.fail("it drew"))
    assert cli.main(["demo", name, "--headless", "--seconds", "0.1"]) == 0
    assert "Checked: " in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["bridge", "boxes"])
def test_the_command_opens_the_page(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import sennit.view  # noqa: F401

    opened = []
    package = sys.modules["sennit.view"]  # the name is the function's, too
    monkeypatch.setattr(package, "view", lambda play, **options: opened.append((play, options)), raising=False)
    assert cli.main(["demo", name, "--port", "8123", "--no-browser", "--host", "127.0.0.2"]) == 0
    ((play, options),) = opened
    assert options == {"port": 8123, "host": "127.0.0.2", "browser": False, "block": True}
    assert play.title and play.time >= 0.0
    play.step()


def test_decor_needs_no_picture_library() -> None:
    program = (
        "import sys; sys.modules['PIL'] = None\n"
        "from sennit.demos import crane\n"
        "print(len(crane.play().portrait.cast.parts) > 10)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout == "True\n"
