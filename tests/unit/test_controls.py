"""Sliders, switches, buttons and plots that a scene declares."""

from __future__ import annotations

from typing import Any

import pytest

import sennit as sn


def test_keys_press_buttons_and_switches() -> None:
    scene = sn.Scene()
    assert scene.control("shoot", lambda: None, key="G").key == "g"
    assert scene.control("brake", lambda on: None, False, key="1").key == "1"
    for wrong in ("", "gg", "?", " ", 5, "ä", "r", "P", "g"):
        with pytest.raises(sn.InputError, match="key"):
            scene.control("again", lambda: None, key=wrong)  # type: ignore[arg-type]
    with pytest.raises(sn.InputError, match="key is for buttons and switches, and this is a slider"):
        scene.control("speed", lambda value: None, 0.0, range=(0, 1), key="k")
    assert [control.name for control in scene.controls] == ["shoot", "brake"]


def test_three_kinds_in_one_line_each() -> None:
    scene = sn.Scene()
    got: list[Any] = []
    slider = scene.control("speed", got.append, 0.5, range=(0, 2), unit="m/s")
    switch = scene.control("brake", got.append, False)
    button = scene.control("shoot", lambda: got.append("shot"))
    assert [c.kind for c in scene.controls] == ["slider", "switch", "button"]
    assert scene.controls == (slider, switch, button)
    assert got == []  # nothing acts before it is changed
    slider.use(2)
    switch.use(True)
    button.use()
    assert got == [2.0, True, "shot"]
    assert (slider.value, switch.value, button.value) == (2.0, True, None)
    assert (slider.start, slider.range, slider.unit) == (0.5, (0.0, 2.0), "m/s")


def test_a_slider_without_a_value_starts_at_its_least() -> None:
    assert sn.Scene().control("speed", print, range=(-1, 1)).value == -1.0


@pytest.mark.parametrize("value", [3, -1, float("nan"), "1", None, True])
def test_a_value_that_does_not_fit_changes_nothing(value: object) -> None:
    got: list[Any] = []
    slider = sn.Scene().control("speed", got.append, 0.5, range=(0, 2))
    with pytest.raises(sn.InputError, match="speed"):
        slider.use(value)
    assert got == [] and slider.value == 0.5


def test_an_act_that_raises_keeps_the_old_value() -> None:
    def refuse(value: float) -> None:
        raise sn.InputError("too fast")

    slider = sn.Scene().control("speed", refuse, 0.5, range=(0, 2))
    with pytest.raises(sn.InputError, match="too fast"):
        slider.use(1.0)
    assert slider.value == 0.5


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (("", print), {}),
        (("x" * 80, print), {}),
        (("a\nb", print), {}),
        ((3, print), {}),
        (("speed", 3), {}),
        (("speed", print, 0.5), {}),
        (("speed", print, "on\noff"), {}),
        (("speed", print, "x" * 201), {}),
        (("speed", print, 5), {"choices": ["a", "b"]}),
        (("speed", print, "c"), {"choices": ["a", "b"]}),
        (("speed", print), {"choices": []}),
        (("speed", print), {"choices": "ab"}),
        (("speed", print), {"choices": ["a", "a"]}),
        (("speed", print), {"choices": ["a", 3]}),
        (("speed", print), {"choices": ["a"], "range": (0, 1)}),
        (("speed", print, 5.0), {"range": (0, 1)}),
        (("speed", print), {"range": (1, 1)}),
        (("speed", print), {"range": (0, float("inf"))}),
        (("speed", print), {"range": 3}),
        (("speed", print, 0.5), {"range": (0, 1), "unit": 5}),
        (("taken", print), {}),
    ],
)
def test_bad_declarations_are_refused(arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    scene = sn.Scene()
    scene.control("taken", print)
    with pytest.raises(sn.InputError):
        scene.control(*arguments, **options)
    assert len(scene.controls) == 1


def test_watches() -> None:
    scene = sn.Scene()
    watch = scene.watch("energy", lambda: scene.energy.total, unit="J")
    assert scene.watches == (watch,) and watch.unit == "J"
    assert watch.read() == 0.0
    for arguments in (("energy", lambda: 1.0), ("x", 3.0), ("", lambda: 1.0)):
        with pytest.raises(sn.InputError):
            scene.watch(*arguments)  # type: ignore[arg-type]
    assert len(scene.watches) == 1


def test_menus_and_text_fields() -> None:
    scene = sn.Scene()
    got: list[str] = []
    menu = scene.control("rope", got.append, choices=["hemp", "steel"])
    text = scene.control("name", got.append, "")
    assert (menu.kind, text.kind) == ("menu", "text")
    assert (menu.value, menu.number, menu.start) == ("hemp", 0.0, "hemp")
    menu.use("steel")
    text.use("Ada")
    assert got == ["steel", "Ada"] and menu.number == 1.0 and text.value == "Ada"
    for control, value in ((menu, "silk"), (menu, 1), (text, 3.0), (text, "a\nb"), (text, "x" * 201)):
        with pytest.raises(sn.InputError, match=control.name):
            control.use(value)
    assert (menu.value, text.value) == ("steel", "Ada") and len(got) == 2


def test_readouts_are_texts_or_numbers() -> None:
    scene = sn.Scene()
    score = scene.show("score", lambda: 3)
    assert scene.readouts == (score,) and score.text() == "3"
    assert scene.show("share", lambda: 1 / 3).text() == "0.333333"
    assert scene.show("word", lambda: "two of five").text() == "two of five"
    for k, said in enumerate((None, [1.0], True, "x" * 1001)):
        with pytest.raises(sn.InputError, match=f"bad {k} must be a text"):
            scene.show(f"bad {k}", lambda said=said: said).text()
    for arguments in (("score", lambda: 1), ("x", 3.0), ("", lambda: 1)):
        with pytest.raises(sn.InputError):
            scene.show(*arguments)  # type: ignore[arg-type]


def test_scenarios_are_a_menu_of_beginnings() -> None:
    scene = sn.Scene(gravity=(0, 0, 0))
    ball = scene.add(sn.RigidBody.sphere(0.1, mass=1.0))
    scene.scenario("at rest", scene.snapshot())
    ball.velocity = (1, 0, 0)
    scene.scenario("thrown", scene.snapshot())
    scene.scenario("far", lambda: setattr(ball, "position", (5, 0, 0)))
    (menu,) = scene.controls
    assert (menu.name, menu.kind, menu.value) == ("scenario", "menu", "at rest")
    menu.use("thrown")
    scene.run(1.0, 0.1)
    assert ball.position[0] == pytest.approx(1.0)
    menu.use("far")
    assert ball.position[0] == 5.0
    menu.use("at rest")
    assert not ball.position.any() and not ball.velocity.any()
    for name, begin in (("far", print), ("x", 3), ("x", sn.Scene().snapshot()), ("", print)):
        with pytest.raises(sn.InputError):
            scene.scenario(name, begin)
    assert scene.controls == (menu,)
    other = sn.Scene()
    other.control("scenario", print)
    with pytest.raises(sn.InputError, match="there is a control"):
        other.scenario("a", print)
