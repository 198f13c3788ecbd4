"""The panel: what runs, the scene's own parameters, plots, constraints, and how it all looks."""

from __future__ import annotations

import html
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sennit.live.spells import Spell
from sennit.portrait.parts import UNITS
from sennit.validation import FloatArray
from sennit.view.page.hand import Stamp
from sennit.view.page.legend import legend
from sennit.view.page.plots import History, chart_title, grouped_by_unit

if TYPE_CHECKING:
    from viser import ViserServer

__all__ = ["BODY_COLOURS", "Panel"]

SPEEDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
BODY_COLOURS = "bodies"
"""The choice of no field."""
LISTED = 40
"""Constraints that have a switch of their own; further ones are in the menu for removal only."""
MOST_GRAVITY = 100.0
"""Of each component that can be chosen, m/s², unless the scene begins with more than half of it."""
SETTLING = 0.6
"""Seconds for which a person's own setting is not overwritten by what the simulation says."""
LINES = ("#3f88b2", "#d68e3a", "#c4564a", "#689e5e", "#8e6eb0", "#489a94", "#c46e94", "#a08850")


class Panel:
    """The panel of `server`; `ask` sends a command, `act` are the page's own actions by name.

    People's settings arrive in the server's own thread. What changes the page itself is put off by ``act["later"]``
    until the thread that draws has time for it: two threads must not build and remove the same things.
    """

    def __init__(self, server: ViserServer, ask: Callable[..., None], act: dict[str, Callable[..., Any]]) -> None:
        self._gui = server.gui
        self._ask, self._act = ask, act
        self._described: dict[str, Any] = {}
        self._stamps: dict[str, Stamp] = {}
        self._touched: dict[str, float] = {}
        self._controls: list[Any] = []
        self._ties: list[Any] = []
        self._removal: list[Any] = []
        """The menu and the button that take a constraint out."""
        self._charts: list[tuple[list[int], Any]] = []
        self._history = History(0)
        self._watched: list[str] = []
        self._shown: dict[str, bool] = {}
        """Whether the watch of that name is plotted."""
        self._folders: dict[str, Any] = {}
        self._begin_gravity: tuple[float, float, float] | None = None
        self._gravity: Any = None
        self._said = ""
        self._failure = ""
        self._spell: Spell | None = None
        self._readouts: list[str] = []
        """Names of what is shown as text."""
        self._shows: Sequence[str] = ()
        self._texts: Sequence[str] = ()
        """What stands in the text fields, as the simulation says."""
        self._next_text = self._next_plot = 0.0
        self.field: str | None = None
        """The field that is shown as colours."""
        self._board: Any = self._gui.add_html("", order=0.5, visible=False)
        with self._gui.add_folder("Simulation", order=1.0):
            self._build_simulation()
        with self._gui.add_folder("Look", order=9.0):
            self._build_look()

    # -------------------------------------------------------------------------------------------------------- parts

    def _build_simulation(self) -> None:
        gui = self._gui
        self._status = gui.add_html(_status_html([]))
        self._buttons = gui.add_button_group("", ("Pause", "Step", "Reset"))

        async def pressed(event: Any) -> None:
            name = str(event.target.value).lower()
            if name in ("pause", "run", "step", "reset"):
                self._ask(name)
            if name == "reset" and self._gravity is not None and self._begin_gravity is not None:
                self._gravity.value = self._begin_gravity

        self._buttons.on_click(pressed)
        self._speed: Any = gui.add_dropdown(
            "time scale", tuple(map(_times, SPEEDS)), initial_value=_times(1.0), hint="simulated seconds in a real one"
        )

        async def sped(event: Any) -> None:
            if event.client is not None:
                self._touched["speed"] = time.monotonic()
                self._ask("speed", value=SPEEDS[list(map(_times, SPEEDS)).index(self._speed.value)])

        self._speed.on_update(sped)

    def _build_look(self) -> None:
        gui = self._gui
        self._colour: Any = gui.add_dropdown("colour by", (BODY_COLOURS,), initial_value=BODY_COLOURS)
        self._legend = gui.add_html("", visible=False)

        def colour() -> None:
            chosen = self._colour.value
            self.field = str(chosen) if chosen != BODY_COLOURS and chosen in self._colour.options else None
            self._legend.visible = self.field is not None
            self._act["look"]()

        async def coloured(event: Any) -> None:
            self._act["later"](colour)

        self._colour.on_update(coloured)
        fit = gui.add_button("Fit view", hint="put everything into sight")

        async def fitted(event: Any) -> None:
            self._act["later"](lambda: self._act["fit"](event.client))

        fit.on_click(fitted)
        self._switch("marks", True, "marks of constraints and loads", lambda on: self._act["dress"](ties=on))
        self._switch("ground", True, None, lambda on: self._act["dress"](ground=on))
        self._switch("shadows", True, "turn off if the picture is slow", lambda on: self._act["shadows"](on))
        self._switch("dark", False, None, lambda on: self._act["dress"](dark=on))

    def forget_field(self) -> None:
        """Show the bodies' own colours."""
        if self._colour.value != BODY_COLOURS:
            self._colour.value = BODY_COLOURS
        self.field, self._legend.visible = None, False

    def _switch(self, label: str, value: bool, hint: str | None, act: Callable[[bool], None]) -> Any:
        box = self._gui.add_checkbox(label, value, hint=hint)

        async def switched(event: Any) -> None:
            self._act["later"](lambda: act(bool(box.value)))

        box.on_update(switched)
        return box

    # --------------------------------------------------------------------------------------------------------- recast

    def recast(self, header: dict[str, Any], fields: Sequence[str]) -> None:
        """Show the controls, watches, constraints and handles that a message of the simulation names."""
        for name, order, build in (
            ("controls", 2.0, self._build_controls),
            ("watches", 3.0, self._build_plots),
            ("ties", 4.0, self._build_ties),
        ):
            described = [header[name], header["handles"]] if name == "ties" else _without_values(header[name])
            if described == self._described.get(name):
                self._stamps[name].generation = header["generation"]
            else:
                self._described[name], self._stamps[name] = described, Stamp(header["generation"])
                build(header[name], order)
        self._readouts = [str(name) for name in header.get("readouts", ())]
        if self._gravity is None and header["gravity"] is not None:
            self._build_gravity(header["gravity"])
        options = (BODY_COLOURS, *fields)
        if tuple(self._colour.options) != options:
            kept = self._colour.value if self._colour.value in options else BODY_COLOURS
            self._colour.options = options
            self._colour.value = kept
            if self.field is not None and self.field not in options:
                self.forget_field()

    def _renew(self, name: str, order: float, wanted: bool, **options: Any) -> Any:
        """A new folder in place of the old one of that name; None if it is not wanted."""
        if name in self._folders:
            self._folders.pop(name).remove()
        if wanted:
            self._folders[name] = self._gui.add_folder(name, order=order, **options)
        return self._folders.get(name)

    def _build_gravity(self, value: Sequence[float]) -> None:
        x, y, z = value
        self._begin_gravity = (x, y, z)
        with self._gui.add_folder("Gravity", order=1.5, expand_by_default=False):
            most = max(MOST_GRAVITY, 2.0 * float(np.linalg.norm(value)))
            self._gravity = self._gui.add_vector3("m/s²", (x, y, z), min=(-most,) * 3, max=(most,) * 3, step=0.1)

            async def changed(event: Any) -> None:
                if event.client is not None:
                    self._ask("gravity", value=[float(g) for g in self._gravity.value])

            self._gravity.on_update(changed)

    def _build_controls(self, controls: list[dict[str, Any]], order: float) -> None:
        folder = self._renew("Parameters", order, bool(controls))
        self._controls = []
        if folder is None:
            return
        with folder:
            for number, control in enumerate(controls):
                self._controls.append(self._control(number, control))

    def _control(self, number: int, control: dict[str, Any]) -> Any:
        label = control["name"] + (f" ({control['unit']})" if control["unit"] else "")
        stamp = self._stamps["controls"]
        if control["kind"] == "button":
            button = self._gui.add_button(label)

            async def pressed(event: Any) -> None:
                self._ask("control", control=number, generation=stamp.generation)

            button.on_click(pressed)
            return button
        handle: Any
        if control["kind"] == "switch":
            handle = self._gui.add_checkbox(label, bool(control["value"]))
        elif control["kind"] == "menu":
            handle = self._gui.add_dropdown(label, tuple(control["choices"]), initial_value=control["value"])
        elif control["kind"] == "text":
            handle = self._gui.add_text(label, control["value"])
        else:
            low, high = control["range"]
            value = min(max(float(control["value"]), low), high)
            handle = self._gui.add_slider(label, low, high, (high - low) / 200.0, value)

        async def changed(event: Any) -> None:
            if event.client is None:
                return
            self._touched[control["name"]] = time.monotonic()
            value = handle.value
            if control["kind"] == "slider":
                value = min(max(float(value), control["range"][0]), control["range"][1])
            self._ask("control", control=number, value=value, generation=stamp.generation)

        handle.on_update(changed)
        return handle

    def _build_plots(self, watches: list[dict[str, Any]], order: float) -> None:
        names = {name: k for k, name in enumerate(self._watched)}
        self._watched = [w["name"] for w in watches]
        self._history = self._history.continued([names.get(name) for name in self._watched])
        self._shown = {w["name"]: bool(w["shown"]) for w in watches}
        self._folders.pop("Chosen plots", None)  # it stands in the folder that is made anew
        folder = self._renew("Plots", order, bool(watches))
        if folder is None:
            return
        with folder:
            self._build_charts(watches)
            with self._gui.add_folder("choose", order=9.0, expand_by_default=not self._charts):
                for number, watch in enumerate(watches[:LISTED]):
                    self._switch(watch["name"], self._shown[watch["name"]], None, self._chooser(watches, number))

    def _chooser(self, watches: list[dict[str, Any]], number: int) -> Callable[[bool], None]:
        stamp = self._stamps["watches"]

        def choose(on: bool) -> None:
            name = watches[number]["name"]
            if self._stamps["watches"] is stamp and self._shown.get(name) != on:
                self._shown[name] = on
                self._ask("watch", watch=number, on=on, generation=stamp.generation)
                with self._folders["Plots"]:
                    self._build_charts(watches)

        return choose

    def _build_charts(self, watches: list[dict[str, Any]]) -> None:
        """A chart for each unit of the watches that are shown."""
        self._charts = []
        folder = self._renew("Chosen plots", 1.0, any(self._shown.values()))
        if folder is None:
            return
        faint: Any = {"stroke": "rgba(128,128,128,0.18)", "width": 1}
        with folder:
            chosen = [k for k, watch in enumerate(watches) if self._shown[watch["name"]]]
            for members in grouped_by_unit([watches[k]["unit"] for k in chosen]):
                group = [chosen[k] for k in members]
                unit = watches[group[0]]["unit"]
                series: list[Any] = [{"label": "t"}]
                series += [
                    {
                        "label": watches[k]["name"],
                        "stroke": LINES[k % len(LINES)],
                        "width": 2,
                        "points": {"show": False},
                    }
                    for k in group
                ]
                chart = self._gui.add_uplot(
                    tuple(np.zeros(1) for _ in range(1 + len(group))), tuple(series), height=190,
                    title=chart_title([watches[k]["name"] for k in group], unit),
                    # Room above and to the right, where half of the last tick's label would be cut off.
                    padding=(12, 14, 0, 0), scales={"x": {"time": False}},
                    legend={"show": len(group) > 1, "live": False},
                    axes=({"stroke": "#889", "grid": faint, "size": 28, "label": "time (s)", "labelSize": 18,
                           "labelFont": "11px sans-serif", "labelGap": 0},
                          {"stroke": "#889", "grid": faint, "size": 58}),
                )  # fmt: skip
                self._charts.append((group, chart))

    def _build_ties(self, ties: list[dict[str, Any]], order: float) -> None:
        gui, stamp = self._gui, self._stamps["ties"]
        if "Constraints" not in self._folders:  # it stays as it is folded when pins come and go
            self._folders["Constraints"] = gui.add_folder("Constraints", order=order, expand_by_default=False)
            with self._folders["Constraints"]:
                gui.add_html(_HINT)
                pin = gui.add_button("Pin what I grabbed last")

                async def pinned(event: Any) -> None:
                    self._act["pin"]()

                pin.on_click(pinned)
                self._switch("gizmos", self._act["gizmos"](), "arrows that move what is clamped", self._act["gizmos"])
        for widget in [*self._ties, *self._removal]:
            widget.remove()
        self._ties, self._removal = [], []
        with self._folders["Constraints"]:
            for number, tie in enumerate(ties[:LISTED]):
                self._ties.append(self._tie(number, tie))
            if ties:
                names = tuple(_distinct([tie["name"] for tie in ties]))
                menu: Any = gui.add_dropdown("choose", names, initial_value=names[-1])
                remove = gui.add_button("Remove it", hint="reset brings it back")
                self._removal = [menu, remove]

                async def removed(event: Any) -> None:
                    self._ask("remove", tie=names.index(menu.value), generation=stamp.generation)

                remove.on_click(removed)

    def _tie(self, number: int, tie: dict[str, Any]) -> Any:
        box = self._gui.add_checkbox(tie["name"], bool(tie["enabled"]), hint=tie["kind"])
        stamp = self._stamps["ties"]

        async def switched(event: Any) -> None:
            if event.client is not None:
                self._touched[f"tie {number}"] = time.monotonic()
                self._ask("switch", tie=number, on=bool(box.value), generation=stamp.generation)

        box.on_update(switched)
        return box

    # --------------------------------------------------------------------------------------------------------- frames

    def sample(self, time_now: float, watched: FloatArray) -> None:
        """Keep the watched values of one frame."""
        self._history.add(time_now, watched)

    def draw(self, status: dict[str, float], pieces: dict[str, FloatArray], frames: float, viewers: int) -> None:
        """Bring everything up to date with a frame; `frames` are drawn in a second."""
        now = time.monotonic()
        if now >= self._next_text:
            self._next_text = now + 0.2
            self._draw_status(status, frames, viewers)
            self._follow(now, status, pieces)
        if now >= self._next_plot and self._charts:
            self._next_plot = now + 0.12
            samples = self._history.samples
            if samples.shape[1] > 1:
                for group, chart in self._charts:
                    chart.data = (samples[0], *(samples[1 + k] for k in group))

    def tell(self, failure: str, spell: Spell | None, shows: Sequence[str] = (), texts: Sequence[str] = ()) -> None:
        """From now on show why the simulation has failed ("": it has not), what was done to steps lately, what
        readouts say, and what stands in text fields.
        """
        self._failure, self._spell, self._shows, self._texts = failure, spell, shows, texts
        self._next_text = 0.0

    def _draw_status(self, status: dict[str, float], frames: float, viewers: int) -> None:
        wanted = ("Run" if status["paused"] else "Pause", "Step", "Reset")
        if tuple(self._buttons.options) != wanted:
            self._buttons.options = wanted
        slow = not status["paused"] and status["pace"] < 0.9 * status["speed"]
        stands = "failed" if self._failure else "paused"
        said = _status_html(
            [
                ("time", f"{status['time']:.2f} s", False),
                ("pace", stands if status["paused"] else f"{status['pace']:.2f}×", slow),
                ("step", f"{_duration(status['step_us'])}", False),
                ("frames", f"{frames:.0f}/s" if frames >= 0.5 else "still", False),
            ]
            + ([("windows", f"{viewers}", False)] if viewers > 1 else []),
            self._failure,
            self._spell,
        )
        if said != self._said:
            self._said = self._status.content = said
        board = _board_html(list(zip(self._readouts, self._shows, strict=False)))
        if board != self._board.content:
            self._board.content, self._board.visible = board, bool(board)

    def _follow(self, now: float, status: dict[str, float], pieces: dict[str, FloatArray]) -> None:
        """Show what the simulation's own settings are, except those that somebody is changing."""
        fresh = {name for name, at in self._touched.items() if now - at < SETTLING}
        if "speed" not in fresh:
            nearest = min(SPEEDS, key=lambda s: abs(np.log(s / max(status["speed"], 1e-9))))
            if self._speed.value != _times(nearest):
                self._speed.value = _times(nearest)
        texts = iter(self._texts)
        for control, handle, value in zip(
            self._described.get("controls", ()), self._controls, pieces["controls"].tolist(), strict=True
        ):
            text = next(texts, None) if control["kind"] == "text" else None
            if control["kind"] == "button" or control["name"] in fresh:
                continue
            shown: Any = float(value)
            if control["kind"] == "slider":
                changed = abs(handle.value - shown) > 0.003 * (handle.max - handle.min)
            else:
                if control["kind"] == "switch":
                    shown = bool(value)
                elif control["kind"] == "menu":
                    shown = control["choices"][int(value)]
                else:
                    shown = handle.value if text is None else text
                changed = handle.value != shown
            if changed:
                handle.value = shown
        for number, (handle, on) in enumerate(zip(self._ties, pieces["ties"].tolist(), strict=False)):
            if f"tie {number}" not in fresh:
                handle.value = bool(on)

    def draw_legend(self, low: float, high: float) -> None:
        """Say what the colours of the chosen field mean."""
        if self.field is not None:
            self._legend.content = legend(self.field, low, high)


def _without_values(described: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in entry.items() if name != "value"} for entry in described]


def _distinct(names: list[str]) -> list[str]:
    return [name if names.count(name) == 1 else f"{name} · {k + 1}" for k, name in enumerate(names)]


def _times(speed: float) -> str:
    return f"{speed:g}×"


def _duration(microseconds: float) -> str:
    return f"{microseconds:.0f} µs" if microseconds < 1e4 else f"{microseconds / 1e3:.0f} ms"


def fields_of(parts: Sequence[Any]) -> list[str]:
    """The fields that some of the parts carry, in a fixed order."""
    there = {field for part in parts for field in getattr(part, "fields", ())}
    return [field for field in UNITS if field in there]


_HINT = (
    '<div style="font-size: 0.78em; line-height: 1.35; opacity: 0.75; padding: 0.2em 0.75em 0.5em">'
    "Right click (or Shift + click) pins a body where it is. On the mark of a pin it takes it away, on another mark it "
    "switches that constraint.</div>"
)


def _board_html(shown: Sequence[tuple[str, str]]) -> str:
    """Names and texts in large letters, one below the other; "" where there are none."""
    rows = "".join(
        '<div style="display: flex; justify-content: space-between; align-items: baseline; gap: 1em">'
        f'<span style="font-size: 0.78em; opacity: 0.65">{html.escape(name)}</span>'
        '<span style="font-size: 1.5em; font-weight: 650; font-variant-numeric: tabular-nums; text-align: right; '
        f'white-space: pre-line; overflow-wrap: anywhere">{html.escape(text)}</span></div>'
        for name, text in shown
    )
    return f'<div class="sennit-board" style="padding: 0.5em 1em 0.3em">{rows}</div>' if rows else ""


def _status_html(entries: Sequence[tuple[str, str, bool]], failure: str = "", spell: Spell | None = None) -> str:
    """Names and values side by side, orange ones where something is strange; the badge of a spell beside them, and why
    the simulation has failed below.
    """
    cells = "".join(
        '<div style="flex: 1 0 auto; text-align: center">'
        f'<div style="font-size: 0.68em; opacity: 0.6; text-transform: uppercase">{html.escape(name)}</div>'
        f'<div style="font-variant-numeric: tabular-nums; font-weight: 600; white-space: nowrap'
        f'{"; color: #d9822b" if strange else ""}">{html.escape(text)}</div></div>'
        for name, text, strange in entries
    )
    if spell is not None:
        count = f"{spell.steps} step" + ("s" if spell.steps > 1 else "")
        cells += (
            f'<div class="sennit-spell" title="{html.escape(spell.message, quote=True)}" style="flex: 1 0 auto; '
            'text-align: center; border-radius: 0.5em; background: rgba(217, 130, 43, 0.14); padding: 0 0.4em">'
            f'<div style="font-size: 0.68em; opacity: 0.75; text-transform: uppercase">{html.escape(spell.kind)}</div>'
            f'<div style="font-variant-numeric: tabular-nums; white-space: nowrap">{count}</div></div>'
        )
    row = (
        '<div style="display: flex; flex-wrap: wrap; gap: 0.2em 0.6em; padding: 0.2em 0.75em 0.5em; font-size: 0.85em">'
        f"{cells}</div>"
    )
    if failure:
        row += (
            '<div class="sennit-failure" style="margin: 0 0.75em 0.6em; padding: 0.3em 0.6em; font-size: 0.8em; '
            "line-height: 1.35; border-left: 3px solid #c4564a; background: rgba(196, 86, 74, 0.1); "
            f'overflow-wrap: anywhere"><b>Failed</b>: {html.escape(failure)}</div>'
        )
    return row
