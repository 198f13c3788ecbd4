"""`sn.view`: its arguments, its handle, notebooks, and pages that end by themselves."""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Callable
from typing import Any

import pytest
from references.windows import wait_until

import sennit as sn
from sennit.view import session


def ball_scene() -> sn.Scene:
    scene = sn.Scene(gravity=(0, 0, 0))
    scene.add(sn.RigidBody.sphere(0.1, mass=1.0))
    return scene


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"port": -1}, "port"),
        ({"port": 70_000}, "65535"),
        ({"port": "x"}, "port"),
        ({"host": "somewhere"}, "127.0.0.1"),
        ({"host": 5}, "127.0.0.1"),
        ({"dt": 0.0}, "dt"),
        ({"before_step": 3}, "before_step"),
        ({"title": 5}, "title"),
    ],
)
def test_bad_arguments_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(sn.InputError, match=message):
        sn.view(ball_scene(), block=False, browser=False, **options)


def test_only_what_can_be_run_is_shown() -> None:
    for nothing in (None, 3, "scene", sn.RigidBody.sphere(0.1, mass=1.0)):
        with pytest.raises(sn.InputError, match="sennit.Scene"):
            sn.view(nothing, block=False, browser=False)  # type: ignore[arg-type]


def test_without_its_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"sennit\[view\]"):
        sn.view(ball_scene(), block=False, browser=False)


def test_a_page_belongs_to_the_simulation_until_it_is_closed() -> None:
    scene = ball_scene()
    steps: list[float] = []
    shown = sn.view(scene, steps.append, dt=2e-3, port=0, browser=False, block=False)
    try:
        wait_until(lambda: len(steps) > 5)
        assert steps[0] == 2e-3 and shown.running and shown.viewers == 0
        with pytest.raises(sn.InputError, match=f"run by the page at {shown.url}"):
            scene.step(1e-3)
        with pytest.raises(sn.InputError, match="run by the page"):
            sn.view(scene, port=0, browser=False, block=False)
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{22}/", shown.url)
        assert f'src="{shown.url}"' in shown._repr_html_() and "running" in repr(shown)
    finally:
        shown.close()
    shown.close()  # nothing happens
    assert not shown.running and "ended" in repr(shown)
    scene.step(1e-3)


def test_notebooks_of_other_machines_show_it_through_their_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with sn.view(ball_scene(), port=0, browser=False, block=False) as shown:
        _, _, place, token, _ = shown.url.split("/")
        port = place.partition(":")[2]
        monkeypatch.setenv("JUPYTERHUB_SERVICE_PREFIX", "/user/ada/")
        assert f'src="/user/ada/proxy/{port}/{token}/"' in shown._repr_html_()
        monkeypatch.setenv("COLAB_RELEASE_TAG", "release")
        text = shown._repr_html_()
        assert f"proxyPort({port})" in text and f"/{token}/" in text


def test_a_page_that_ends_by_itself_is_an_error() -> None:
    scene = ball_scene()
    shown = sn.view(scene, port=0, browser=False, block=False)
    shown._page.kill()
    with pytest.raises(RuntimeError, match="ended by itself"):
        shown.wait()
    scene.step(1e-3)  # it is free again


def test_other_addresses_are_warned_about(capsys: pytest.CaptureFixture[str]) -> None:
    with sn.view(ball_scene(), host="127.0.0.1", port=0, browser=False, block=False):
        assert "warning" not in capsys.readouterr().err
    with sn.view(ball_scene(), host="0.0.0.0", port=0, browser=False, block=False) as shown:
        assert "can be reached by other machines" in capsys.readouterr().err
        assert shown.url.startswith("http://127.0.0.1:")


def test_notebooks_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def shell(name: str) -> Callable[[], Any]:
        return lambda: type(name, (), {})()

    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert not session.in_notebook()
    for name, notebook in (("TerminalInteractiveShell", False), ("ZMQInteractiveShell", True)):
        fake = types.ModuleType("IPython")
        fake.get_ipython = shell(name)  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "IPython", fake)
        assert session.in_notebook() is notebook
