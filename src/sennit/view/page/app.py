"""Puts server, stage, panel and hand together, and keeps them up to date with the simulation."""

from __future__ import annotations

import contextlib
import queue
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sennit.errors import InputError
from sennit.live.channel import STATUS, FrameReader, Layout
from sennit.live.spells import Spell
from sennit.live.wire import Wire
from sennit.portrait.bounds import bounds
from sennit.portrait.cast import Cast
from sennit.portrait.colours import field_range
from sennit.validation import FloatArray
from sennit.view.page.framing import FIELD_OF_VIEW, fitted
from sennit.view.page.gizmos import Gizmos
from sennit.view.page.hand import Hand, Scenery
from sennit.view.page.legend import Range, ramp
from sennit.view.page.panel import Panel, fields_of
from sennit.view.page.stage import EASE, Stage

if TYPE_CHECKING:
    from viser import ViserServer

__all__ = ["App"]

FRAMES = 60.0
"""Pictures in a second, at most."""
GRIPS = 12.0
"""How often in a second what can be grabbed is moved to where it is."""
OPENING = 10.0
"""Seconds in which a window that was just opened takes its shape."""
RECOVERY = 0.5
"""Seconds until the next attempt after a picture that could not be drawn."""
NOTES = {"info": ("sennit", "blue"), "warning": ("Not done", "orange"), "error": ("Failed", "red")}


class App:
    """The page on `server`, for the simulation at the other end of `wire`. `run` returns when that says goodbye."""

    def __init__(self, wire: Wire, server: ViserServer) -> None:
        self._wire, self._server = wire, server
        self._viewers: set[int] = set()
        self._lock = threading.Lock()
        self._actions: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        """What callbacks have left for the thread that draws."""
        self._generation = 0
        self._waiting: tuple[dict[str, Any], Cast] | None = None
        """A cast of which no frame has come yet."""
        self._reader: FrameReader | None = None
        self._cast: Cast | None = None
        self._layout = Layout(0, 0, 0, 0, 0)
        self._header: dict[str, Any] = {}
        self._newest: FloatArray | None = None
        """The last frame that was read."""
        self._drawn: FloatArray | None = None
        self._dirty = True
        self._range = Range()
        self._ranged: tuple[Any, ...] = ()
        self._times: deque[float] = deque(maxlen=60)
        self._next_grips = 0.0
        self._marks: deque[int] = deque([0, 0], maxlen=2)
        self._said: dict[str, float] = {}
        self._unread: list[tuple[str, str]] = []
        """Texts and levels that nobody has seen."""
        self._failures: set[str] = set()
        """What went wrong and was written about."""
        self._next_look = 0.0
        self._arrived: dict[int, float] = {}
        """When windows were opened."""
        self._placed: dict[int, tuple[FloatArray, float]] = {}
        """Where the cameras of windows were put, and for which aspect; those that somebody moves are elsewhere."""
        self.stage = Stage(server)
        self.hand = Hand(self._ask, self._tell)
        self.stage.on_grab = self.hand.dragged
        self.gizmos = Gizmos(server, self._move_handle)
        self._theme(False)
        server.gui.main_panel.dock_right()
        server.gui.main_panel.set_width(330)
        self.panel = Panel(
            server,
            self._ask,
            {
                "fit": lambda client: self._fit(client, given=False), "dress": self._dress,
                "shadows": self._cast_shadows, "look": self._look, "pin": self.hand.pin,
                "gizmos": self._show_gizmos, "later": self._actions.put,
            },
        )  # fmt: skip
        clicks: Any = server.scene.on_click(modifier="shift")
        clicks(self.hand.clicked)
        server.initial_camera.fov = FIELD_OF_VIEW
        server.on_client_connect(self._came)
        server.on_client_disconnect(self._went)

    # ----------------------------------------------------------------------------------------------------- both sides

    def _ask(self, do: str, **arguments: Any) -> None:
        """Send a command to the simulation."""
        with contextlib.suppress(EOFError, ValueError):  # it has gone, which `run` learns; or no finite number
            self._wire.send({"say": "do", "do": do, "generation": self._generation, **arguments})

    def _tell(self, client: Any, text: str, level: str = "warning") -> None:
        title, colour = NOTES.get(level, NOTES["info"])
        client.add_notification(title, text, auto_close_seconds=None if level == "error" else 6.0, color=colour)

    def _note(self, level: str, text: str) -> None:
        """Show a text in all windows, but not the same one again and again."""
        now = time.monotonic()
        if now - self._said.get(text, -10.0) > 3.0:
            self._said[text] = now
            clients = self._server.get_clients().values()
            if not clients:  # for the first who comes
                self._unread = [*self._unread[-2:], (text, level)]
            for client in clients:
                self._tell(client, text, level)

    def _move_handle(self, number: int, position: FloatArray, quaternion: FloatArray, generation: int) -> None:
        self._ask(
            "handle", handle=number, position=position.tolist(), quaternion=quaternion.tolist(), generation=generation
        )

    async def _came(self, client: Any) -> None:
        with self._lock:
            self._viewers.add(client.client_id)
        self._dirty = True
        self._arrived[client.client_id] = time.monotonic()
        self._say_viewers()
        self._fit(client)
        unread, self._unread = self._unread, []
        for text, level in unread:
            self._tell(client, text, level)

    async def _went(self, client: Any) -> None:
        with self._lock:
            self._viewers.discard(client.client_id)
        self._placed.pop(client.client_id, None)
        self._arrived.pop(client.client_id, None)
        self.hand.left(client.client_id)
        self._say_viewers()

    def _say_viewers(self) -> None:
        with contextlib.suppress(EOFError):  # `run` learns it, too
            self._wire.send({"say": "viewers", "count": len(self._viewers)})

    # ----------------------------------------------------------------------------------------------------------- look

    def _theme(self, dark: bool) -> None:
        self._server.gui.configure_theme(
            dark_mode=dark, show_logo=False, show_share_button=False, brand_color=(63, 120, 160)
        )

    def _dress(self, **changes: Any) -> None:
        if "dark" in changes:
            self._theme(changes["dark"])
        with self._server.atomic():
            self.stage.dress(**changes)
        self._dirty = True

    def _cast_shadows(self, on: bool) -> None:
        self._server.scene.configure_default_lights(enabled=True, cast_shadow=on)

    def _look(self) -> None:
        self._range = Range()
        self._ranged = ()
        self._dirty = True

    def _show_gizmos(self, visible: bool | None = None) -> bool:
        if visible is not None:
            self.gizmos.show(visible)
            self._dirty = True
        return self.gizmos.visible

    def _camera(self, aspect: float, given: bool) -> tuple[FloatArray, FloatArray]:
        """Eye and target, as drawn."""
        camera = self._header.get("camera") if given else None
        stage = self.stage
        asked = None if camera is None else (np.array(camera[0], float), np.array(camera[1], float))
        eye, target = fitted(stage.low, stage.high, aspect, asked)
        return eye * stage.scale, target * stage.scale

    def _fit(self, client: Any, given: bool = True) -> None:
        """Put everything into sight of a window."""
        if client is None or self._cast is None:
            return
        if self._drawn is not None and not given:
            self.stage.low, self.stage.high = bounds(self._cast, self._layout.split(self._drawn)["parts"])
        aspect = float(client.camera.aspect or 1.0)
        eye, target = self._camera(aspect, given)
        with client.atomic():
            client.camera.up_direction = (0.0, 0.0, 1.0)
            client.camera.position = tuple(eye)
            client.camera.look_at = tuple(target)
        self._placed[client.client_id] = (eye, aspect)

    def _untouched(self, client: Any) -> bool:
        """Whether the camera of a window is where it was put."""
        put = self._placed.get(client.client_id)
        if put is None:
            return False
        return float(np.linalg.norm(client.camera.position - put[0])) < 1e-3 * float(np.linalg.norm(put[0]))

    def _keep_in_sight(self, parts: FloatArray, simulated: float, now: float) -> None:
        """Move the cameras that nobody has moved: where a window has another shape than before, and at the beginning,
        when things fall into place.
        """
        if now < self._next_look or self._cast is None:
            return
        self._next_look = now + 0.25
        for client in self._server.get_clients().values():
            put = self._placed.get(client.client_id)
            if put is not None and abs(float(client.camera.aspect or 1.0) - put[1]) > 0.02:
                # A window takes its shape while it is being opened; later it may be made another one.
                if now - self._arrived.get(client.client_id, now) < OPENING or self._untouched(client):
                    self._fit(client)
        if not self.stage.widen(self._cast, parts) or self._header.get("camera") is not None or simulated > 20.0:
            return
        for client in self._server.get_clients().values():
            if self._untouched(client):
                self._fit(client)

    # ----------------------------------------------------------------------------------------------------------- time

    def run(self) -> None:
        """Show frames until the simulation says goodbye. Raises `EOFError` if it has gone without."""
        due = time.monotonic()
        while True:
            now = time.monotonic()
            idle = not self._viewers and self._waiting is None
            message = self._wire.receive(0.25 if idle else max(due - now, 1e-3))
            if message is not None:
                if message[0].get("say") == "bye":
                    return
                self._hear(*message)
                continue
            while not self._actions.empty():
                self._attempt(self._actions.get())
            if idle:
                self._attempt(self._watch)
            if time.monotonic() < due or idle:
                continue
            begin = time.monotonic()
            done = self._attempt(self._show)
            end = time.monotonic()
            # Never more than two thirds of a core, however large the scene.
            due = max(due + 1.0 / FRAMES, end + 0.5 * (end - begin), end - 1.0 / FRAMES)
            if not done:
                due = end + RECOVERY

    def _attempt(self, act: Callable[[], object]) -> bool:
        """Do it; whether it was done. What one window causes must not end the page for all others."""
        try:
            act()
        except Exception as problem:
            where = traceback.extract_tb(problem.__traceback__)[-1]
            kind = f"{type(problem).__name__} {where.filename}:{where.lineno}"
            if kind not in self._failures:
                self._failures.add(kind)
                print("sennit's page could not draw, and goes on:", file=sys.stderr)
                traceback.print_exception(problem, file=sys.stderr)
                sys.stderr.flush()
            with contextlib.suppress(Exception):
                self.panel.forget_field()
            self._look()
            return False
        return True

    def _hear(self, header: dict[str, Any], payload: bytes) -> None:
        if header.get("say") == "note":
            self._note(str(header.get("level")), str(header.get("text")))
        elif header.get("say") == "state":
            spell = header.get("spell")
            self.panel.tell(
                str(header.get("failed") or ""), None if spell is None else Spell(*spell), header.get("shows") or (),
                header.get("texts") or (),
            )  # fmt: skip
        elif header.get("say") == "cast":
            try:
                self._reader, self._newest = FrameReader(str(header["memory"])), None
            except InputError:
                return  # it has been replaced already: the message about that follows
            self._waiting = (header, Cast.from_bytes(payload))

    def _watch(self) -> None:
        """While nobody looks, only the plots go on."""
        read = None if self._reader is None else self._reader.read()
        if read is not None and read[1].size == self._layout.size:
            self._newest = read[1]
            pieces = self._layout.split(read[1])
            self.panel.sample(float(pieces["status"][STATUS.index("time")]), pieces["watches"])

    def _clients_keep_up(self) -> bool:
        """Whether some browser has taken the frame before the last one: else there is no use in another."""
        buffer = self._server._websock_server._broadcast_buffer
        cursors = list(buffer.generator_cursors.values())
        return not cursors or max(cursors) >= self._marks[0] - 1

    def _show(self) -> None:
        if self._reader is None or not (self._waiting or self._dirty or self._clients_keep_up()):
            return
        read = self._reader.read()
        if read is not None:
            self._newest = read[1]
        elif self._waiting is None and not self._dirty:
            return
        frame = self._newest
        if frame is None:
            return
        with self._server.atomic():
            if self._waiting is not None:
                self._recast(frame)
            self._draw(frame)
        self._server.flush()
        self._marks.append(self._server._websock_server._broadcast_buffer.message_counter)

    def _recast(self, frame: FloatArray) -> None:
        assert self._waiting is not None
        first = self._cast is None
        header, cast = self._waiting
        layout = Layout(**header["layout"])
        generation = int(header["generation"])
        self.stage.recast(cast, layout.split(frame)["parts"], header["ground"])
        if first:
            self.gizmos.visible = False
        self.gizmos.recast(header["handles"], self.stage.scale, self.stage.size, generation)
        self.panel.recast(header, fields_of(cast.parts))
        # Callbacks come at any time: what they name has the stamp of its own generation, old or new.
        self._drawn, self._dirty = None, True
        self._header, self._cast, self._layout, self._generation = header, cast, layout, generation
        self._waiting = None
        if first:
            eye, target = self._camera(1.4, True)
            self._server.initial_camera.position = tuple(eye)
            self._server.initial_camera.look_at = tuple(target)
            self._server.initial_camera.up = (0.0, 0.0, 1.0)
            for client in self._server.get_clients().values():
                self._fit(client)

    def _draw(self, frame: FloatArray) -> None:
        assert self._cast is not None
        pieces = self._layout.split(frame)
        status = dict(zip(STATUS, pieces["status"].tolist(), strict=True))
        now = time.monotonic()
        views = self._cast.views(pieces["parts"])
        self.hand.scenery = Scenery(
            self._generation, self._cast, pieces["parts"], self._header["ties"], pieces["ties"], self.stage.scale,
            EASE * self.stage.size,
        )  # fmt: skip
        old = None if self._drawn is None else self._layout.split(self._drawn)["parts"]
        if self._dirty or old is None or not np.array_equal(old, pieces["parts"]):
            self._dirty = False
            self.stage.draw(views, self._shading(pieces["parts"], now))
            self._times.append(now)
        self._draw_touch(views, status, now)
        if not status["holding"]:
            self._keep_in_sight(pieces["parts"], status["time"], now)
        self.gizmos.draw(pieces["handles"])
        self.panel.sample(status["time"], pieces["watches"])
        self.panel.draw(status, pieces, self._rate(now), len(self._viewers))
        self._drawn = frame

    def _draw_touch(self, views: list[Any], status: dict[str, float], now: float) -> None:
        hand, grip = (np.array([status[f"{name}_{axis}"] for axis in "xyz"]) for name in ("hand", "grip"))
        holding = bool(status["holding"])
        self.stage.draw_hand(holding, hand, grip)
        held = self.hand.part
        if held is not None:
            if holding:
                self.stage.draw_grips(views, held, grip - self.hand.start)
        elif now >= self._next_grips:
            self._next_grips = now + 1.0 / GRIPS
            self.stage.draw_grips(views, None, np.zeros(3))

    def _shading(self, parts: FloatArray, now: float) -> tuple[str, float, float, Any] | None:
        field = self.panel.field
        if field is None or self._cast is None:
            return None
        low, high = self._range.follow(*field_range(self._cast, parts, field), now)
        if (field, low, high) != self._ranged:
            self._ranged = (field, low, high)
            self.panel.draw_legend(low, high)
        return field, low, high, ramp(low, high)

    def _rate(self, now: float) -> float:
        """Frames drawn in a second, over the last ones."""
        recent = [t for t in self._times if now - t < 1.0]
        return (len(recent) - 1) / (recent[-1] - recent[0]) if len(recent) > 1 and recent[-1] > recent[0] else 0.0
