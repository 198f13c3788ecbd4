"""`HapticLoop`: a scene, a strand or tissue at 1 kHz in a process of its own, with a hand in it."""

from __future__ import annotations

import contextlib
import importlib.util
import math
import os
import subprocess
import sys
import tempfile
import time
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from numpy.typing import ArrayLike

from sennit import validation
from sennit.attributes import guarded, unchanging
from sennit.bodies.point.point import Point
from sennit.bodies.strand.state import StrandState
from sennit.bodies.strand.strand import Strand
from sennit.controls import Dashboard
from sennit.coupling import VirtualCoupling
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.geometry.shapes import AbstractShape
from sennit.haptics import handover, packing
from sennit.haptics.board import RUNNING, Board
from sennit.haptics.described import checked_reach, described_subject
from sennit.haptics.devices import HapticDevice
from sennit.haptics.mouse import MouseDevice
from sennit.haptics.order import ordered
from sennit.haptics.shown import LoopPlay, Shown
from sennit.haptics.statistics import Statistics
from sennit.live.wire import Wire
from sennit.scene.scene import Scene
from sennit.scene.skins import freeze_skins
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.bodies.zone.chain import ZoneChain
    from sennit.bodies.zone.zone import Zone
    from sennit.haptics.tissue_shown import TissuePlay

__all__ = ["HapticLoop", "Note"]

PATIENCE = 900.0
"""Time within which the loop must be ready, s; the first time ever, its kernels are compiled."""
_SINGLE = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


@unchanging
@dataclass(frozen=True, slots=True)
class Note:
    """Something that a loop has told: `kind` is "overrun", "failed", "lost", "refused" (what a page asked for), or
    "divided", "calmed", "held", "yielded" (what had to be done to steps so that they stay sound; see `Event`), or
    "outside" (something reaches beyond what is held of a zone; see `reach`).
    """

    kind: str
    text: str


@guarded()
class HapticLoop:
    """Runs a scene, a strand or tissue with a hand in it, `rate` times a second, in a process of its own.

    Arguments:
        subject: a `Scene`, stepped by 1 / `rate` a tick; a `Strand`, whose equilibrium is found in each; or a `Zone` or
            a `ZoneChain`, which the hand touches with a probe.
        device: the hand: a `HapticDevice`; see `sennit.haptics.devices` for how one of your own gets into the process.
        grip: of a scene: the point that the hand holds. With a mouse it may be left out: the page's hand takes it.
        base: of a strand: the pose that holds its first end. The hand holds the other.
        coupling: the spring and damper between hand and grip, a `VirtualCoupling`.
        gravity: on a strand, (3,), m/s²; a scene has its own.
        probe: of tissue: radius of the patch that the probe touches, m; by default 2.5 times the spacing of vertices.
        tool: of tissue: a rigid shape in the hand's frame (a `Sphere`, `Box`, `Capsule`, `Cylinder`, `Mesh` or
            `Plane`), which presses on vertices as `Zone.press` does, in place of the probe. With a coupling that turns
            the hand feels torques; otherwise the tool turns with the hand.
        friction: of tissue: coefficient of friction between probe or tool and skin.
        skeleton: of tissue: where the zones' frames are, a function of time (s) that returns a `Pose` for each zone,
            which is sampled before the loop begins and needs one of known length, or a `Route` of poses for each. With
            ``"live"`` they begin at the rest poses and go where `pose` asks; by default they stay there.
        reach: of a scene whose zones can be touched: vertices nearer than this (m) to what may touch them when the loop
            begins are held for contact throughout, and no others; a note says when something passes them.
        rate: ticks per second.
        seconds: simulated time after which the loop ends by itself; None: when it is closed, or its script is over.
        realtime: whether to ask the system for real-time scheduling: ``"auto"`` takes it if it is granted, True raises
            if it is not.
        max_force, max_torque: the greatest that the device is told to apply, N and N·m, whatever `force_scale` is.
        frame: the pose of the device's frame in the world; ``"grip"``: the world's axes, moved and the hand turned so
            that it is at the grip when the loop begins.
        scale: how much larger the hand's motions are in the world; `force_scale`: how much larger forces are at the
            hand.

    Use it in a ``with`` statement: the loop begins there and ends with it. Meanwhile the simulation belongs to the
    loop, and the scene here stands still; when the loop has ended, the final state is in the scene (its bodies, points
    and constraints are the same objects), or in `state` for a strand. Whatever would change the scene in between, other
    than on the loop's page, raises `InputError`: targets, forces, switches and lengths that are set, winches, steps,
    things that are added or removed. What is a function (a `Follow`, a control) does not travel.

    In a tick the loop reads the hand, steps, and sets the wrench. A tick that takes longer than its period delays that:
    the device keeps the last wrench. Whatever happens, the wrench changes by no more than the coupling's forces can at
    a hand's greatest speed (1 m/s, 10 rad/s in the world) and acceleration (30 m/s², 300 rad/s²), times `force_scale`;
    it goes to zero so while a step has no solution. If the device is lost its wrench is set to zero at once, and the
    simulation goes on without a hand. All this is counted in `statistics` and told in `notes`.

    Raises `InputError` for bad input, `ImportError` for a device whose package is missing, `RuntimeError` if the loop
    could not begin or ended by an error.

    Example::

        hand = ScriptedDevice(lambda t: (0.5, 0.0, 0.1 * math.sin(t)), seconds=5)
        with HapticLoop(scene, hand, grip=rope.at(0.5), coupling=sn.VirtualCoupling(500.0, 5.0)) as loop:
            loop.wait()
        print(loop.statistics)
    """

    subject: Scene | Strand | Zone | ZoneChain
    """What is simulated."""
    device: HapticDevice | Any
    """The hand."""
    coupling: VirtualCoupling
    """The spring and damper between hand and grip."""
    rate: float
    """Ticks per second."""
    panel: Dashboard
    """Of tissue: what its page has besides: ``loop.panel.control("joint", bend, 0.0, range=(0, 60), unit="deg")``."""

    def __init__(
        self,
        subject: Scene | Strand | Zone | ZoneChain,
        device: HapticDevice | Any,
        *,
        coupling: VirtualCoupling,
        grip: Point | None = None,
        base: Pose | None = None,
        gravity: ArrayLike | None = None,
        probe: float | None = None,
        tool: AbstractShape | None = None,
        friction: float | None = None,
        skeleton: Any = None,
        reach: float | None = None,
        rate: float = 1000.0,
        seconds: float | None = None,
        realtime: bool | Literal["auto"] = "auto",
        max_force: float | None = None,
        max_torque: float | None = None,
        frame: Pose | Literal["grip"] | None = None,
        scale: float = 1.0,
        force_scale: float = 1.0,
    ) -> None:
        validation.instance("coupling", coupling, VirtualCoupling, "a sennit.VirtualCoupling")
        self.subject, self.device, self.coupling = subject, device, coupling
        self.rate = validation.number("rate", rate, minimum=1.0, maximum=20_000.0)
        self._base, self._gravity = base, None if gravity is None else validation.vector("gravity", gravity)
        self._order: dict[str, Any] = ordered(
            device, coupling, self.rate, seconds, realtime=realtime, frame=frame, scale=scale, force_scale=force_scale,
            max_force=max_force, max_torque=max_torque,
        )  # fmt: skip
        self._grip, self._touch, self._reach = grip, (probe, tool, friction, skeleton), reach
        self._describe_subject()
        packing.packed(self._order)  # what cannot travel is said here
        self._notes: list[Note] = []
        self._state: StrandState | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._board: Board | None = None
        self._statistics: Statistics | None = None
        self._done = False
        self._shown: Shown | None = None
        self.panel = Dashboard()
        self._loan: handover.Loan | None = None
        """What the loop has of the scene."""
        self._waiting: list[tuple[dict[str, Any], bytes]] = []
        """Messages that came while somebody asked for notes."""

    def _describe_subject(self) -> None:
        self._order |= described_subject(
            self.subject, self._grip, self._base, self._gravity, self.coupling, self.device
        )
        self._order["frozen"] = checked_reach(self.subject, self._reach) is not None
        probe, tool, friction, skeleton = self._touch
        if "tissue" in self._order:
            from sennit.haptics.tool import described_touch

            self._order |= described_touch(
                cast(Any, self.subject), probe, tool, friction, skeleton, self.coupling, self.rate, self._order["ticks"]
            )
        elif any(given is not None for given in self._touch):
            raise InputError("probe=, tool=, friction= and skeleton= are for a sennit.Zone or a sennit.ZoneChain")

    # ------------------------------------------------------------------------------------------- beginning and end

    def __enter__(self) -> HapticLoop:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            self.close()
        else:  # what ended the block is what matters
            with contextlib.suppress(Exception):
                self.close()

    def start(self) -> None:
        """Begin: returns when the first tick is due. A loop can be started once."""
        if self._process is not None or self._done:
            raise InputError("this loop was started already: make another one")
        ram = "/dev/shm"  # files that are never written to a disk: a loop must not wait for one
        folder = ram if os.path.isdir(ram) and os.access(ram, os.W_OK) else None
        if isinstance(self.subject, Scene):
            self.subject._check_free()  # no page runs it, and no other loop
        self._describe_subject()  # the scene may hold other things than when this was made
        self._folder = tempfile.TemporaryDirectory(prefix="sennit-haptics-", dir=folder, ignore_cleanup_errors=True)
        try:
            here = Path(self._folder.name)
            self._board = Board(here / "board", make=True)
            if isinstance(self.subject, Scene):
                if self._order["frozen"]:
                    freeze_skins(self.subject, cast(float, self._reach))
                self.subject.save(here / "scene.npz")
                self._loan = handover.Loan(self.subject)
                self.subject._lend(True)
            connect = getattr(self.device, "connect", None)
            if callable(connect):
                connect(self._board.mouse)
            plain, payload = packing.packed({**self._order, "folder": self._folder.name})
            self._process = _started()
            assert self._process.stdin is not None and self._process.stdout is not None
            self._wire = Wire(cast(Any, self._process.stdout), cast(Any, self._process.stdin))
            self._wire.send({"say": "hello", "order": plain}, payload)
            self._await("ready", PATIENCE)
        except BaseException:
            self._end()
            raise

    def close(self) -> None:
        """End the loop, and take the final state back. Raises what ended it, if that was an error."""
        if self._process is None or self._done:
            return
        try:
            if self._shown is not None:
                self._shown.close()
            with contextlib.suppress(EOFError):
                self._wire.send({"say": "stop"})
            result = self._await("done", 60.0)
            self._take(result)
        finally:
            self._end()

    def _take(self, result: Any) -> None:
        if result["state"] is not None:
            assert self._base is not None
            self._state = handover.made_state(cast(Strand, self.subject), self._base, self._gravity, result["state"])
        take = getattr(self.device, "take_record", None)
        if result["record"] is not None and callable(take):
            take(result["record"])
        if result["back"] and self._loan is not None:
            self._loan.scene._lend(False)
            handover.take_back(self._loan, Path(self._folder.name) / "back.npz")

    def _await(self, word: str, patience: float) -> Any:
        """The message that says `word`; notes are kept on the way. Raises what the loop's process says went wrong."""
        deadline = time.monotonic() + patience
        while (left := deadline - time.monotonic()) > 0.0:
            try:
                message = self._waiting.pop(0) if self._waiting else self._wire.receive(left)
            except EOFError:
                break
            if message is None:
                break
            header, payload = message
            said = header.get("say")
            if said == "note":
                self._keep(header)
            elif said == "failed":
                kinds: dict[str, type[Exception]] = {"InputError": InputError, "ImportError": ImportError}
                kinds["OSError"] = OSError
                raise kinds.get(header["kind"], RuntimeError)(header["text"])
            elif said == word:
                return packing.unpacked(header["result"], payload) if "result" in header else header
        raise RuntimeError(
            f"the loop's process ended, or hangs, before it was {word}; see what it wrote to the terminal"
        )

    def _end(self) -> None:
        """Whatever happened: no process, no files, and the last counts."""
        self._done = True
        if self._loan is not None:
            self._loan.scene._lend(False)
        if isinstance(self.subject, Scene):
            self.subject._frozen = False
        process = self._process
        if process is not None:
            self._wire.close()
            try:
                process.wait(5.0)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self._board is not None:
            self._statistics = self._board.statistics
        self._folder.cleanup()

    # ------------------------------------------------------------------------------------------------- what it does

    @property
    def statistics(self) -> Statistics:
        """How punctual it is. Reading it costs the loop nothing."""
        if self._statistics is not None:
            return self._statistics
        return self._open().statistics

    @property
    def running(self) -> bool:
        """Whether it ticks."""
        return not self._done and self._board is not None and self._alive() and bool(self._board.counts[RUNNING])

    def _alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def _open(self) -> Board:
        if self._board is None:
            raise InputError("the loop has not begun: use it in a with statement, or call start()")
        return self._board

    def _now(self, name: str) -> FloatArray:
        sheet = self._open().now
        return sheet.read()[sheet.parts[name]]

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return float(self._now("time")[0])

    @property
    def hand(self) -> Pose:
        """Where the hand is, in the world."""
        return _pose(self._now("hand"))

    @property
    def grip(self) -> Pose:
        """Where the grip is: of a strand its tip."""
        return _pose(self._now("grip"))

    @property
    def force(self) -> FloatArray:
        """What the hand feels, in the world frame: (3,), N."""
        return self._now("force")

    @property
    def torque(self) -> FloatArray:
        """What the hand feels, in the world frame: (3,), N·m."""
        return self._now("torque")

    @property
    def buttons(self) -> tuple[bool, ...]:
        """The device's first eight buttons."""
        mask = int(self._now("buttons")[0])
        return tuple(bool(mask >> k & 1) for k in range(8))

    @property
    def notes(self) -> tuple[Note, ...]:
        """What it has told so far, oldest first; of each kind at most one a second."""
        if not self._done and self._process is not None and not self._waiting:
            with contextlib.suppress(EOFError):
                while not self._waiting and (message := self._wire.receive()) is not None:
                    if message[0].get("say") == "note":
                        self._keep(message[0])
                    else:
                        self._waiting.append(message)
        return tuple(self._notes)

    def _keep(self, header: dict[str, Any]) -> None:
        self._notes.append(Note(str(header["kind"]), str(header["text"])))

    @property
    def state(self) -> StrandState | None:
        """Of a strand: its final state, once the loop has ended."""
        return self._state

    def view(
        self, *, port: int = 8080, host: str = "127.0.0.1", browser: bool | None = None, title: str | None = None
    ) -> str:
        """Show the loop's scene, or its tissue, on a page, with hand and grip, and return its address.

        `port`, `host`, `browser` and `title` are those of `sennit.view`. With a `MouseDevice` what is dragged on the
        page is what its hand does: it moves the grip, or the place that was grabbed if the loop has no grip. With other
        devices the page's mouse is a second hand. A thread here feeds the page, and keeps the scene here like the
        loop's; it ends with the loop. Of tissue it solves the surfaces; a `MouseDevice` is led by dragging the probe or
        the tool, and the page has what `panel` declares.

        Raises `InputError` for a strand, `ModuleNotFoundError` without websockets, `OSError` if it can't be served.
        """
        from sennit.view.session import _has_screen, checked_address, in_notebook, warn_if_public

        if isinstance(self.subject, Strand):
            raise InputError("view shows loops of scenes and of tissue; a strand's can be watched with `StrandPlay`")
        if importlib.util.find_spec("websockets") is None:
            raise ModuleNotFoundError("the page needs websockets: pip install 'sennit[view]'", name="websockets")
        if not self.running:
            raise InputError("the loop does not run: open the page inside its with statement")
        number = validation.count("port", port, 0, 65535)
        address = checked_address(host)
        warn_if_public(address)
        if self._shown is None:
            self._wire.send({"say": "view"})
            play = self._play(title)
            play.watch(self._await("shown", 60.0)["memory"])
            self._shown = Shown(play, self._wire.send, address, number)
        url = self._shown.url
        if browser if browser is not None else (_has_screen() and not in_notebook()):
            with contextlib.suppress(webbrowser.Error, OSError):
                webbrowser.open(url)
        print(f"The loop's page: {url}", flush=True)
        return url

    def _play(self, title: str | None) -> LoopPlay | TissuePlay:
        mouse = self.device if isinstance(self.device, MouseDevice) else None
        if isinstance(self.subject, Scene):
            return LoopPlay(
                self.subject, self._open(), self._wire.send, mouse=mouse, free=self._order["grip"] is None,
                dt=1.0 / self.rate, title=title, loan=self._loan,
            )  # fmt: skip
        from sennit.haptics.tissue_shown import TissuePlay

        return TissuePlay(
            cast(Any, self.subject), self._open(), self._wire.send, panel=self.panel, mouse=mouse, dt=1.0 / self.rate,
            tool=self._touch[1], title=title,
        )  # fmt: skip

    def pose(self, poses: Pose | Sequence[Pose]) -> None:
        """Of tissue with ``skeleton="live"``: lead the zones' frames to `poses`, one for each.

        They come there smoothly, at 0.5 m/s and 5 rad/s at most, and stop, with a note, where a seam would be torn on
        the way. Raises `InputError`, and leaves them where they are, for poses that tear a seam apart.
        """
        if not isinstance(self._touch[3], str):
            raise InputError('pose leads the bones of tissue: make the loop with skeleton="live"')
        from sennit.haptics.bones import asked_rows

        rows = asked_rows(cast(Any, self.subject), poses)
        if not self.running:
            raise InputError("the loop does not run: lead its bones inside its with statement")
        self._wire.send({"say": "pose", "poses": rows.tolist()})

    def wait(self, seconds: float | None = None) -> None:
        """Return after `seconds` (real time), or when the loop has ended: its script is over, or it was lost."""
        limit = math.inf if seconds is None else validation.number("seconds", seconds, minimum=0.0)
        deadline = time.monotonic() + limit
        while self.running and (left := deadline - time.monotonic()) > 0.0:
            time.sleep(min(left, 0.02))


def _pose(numbers: FloatArray) -> Pose:
    return Pose(numbers[:3], numbers[3:] if numbers[3:].any() else (1.0, 0.0, 0.0, 0.0))


def _started() -> subprocess.Popen[bytes]:
    """The loop's process, with pipes to it. It does not share the terminal's Ctrl-C."""
    source = str(Path(__file__).resolve().parents[2])
    paths = [source, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**dict.fromkeys(_SINGLE, "1"), **os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    own: dict[str, Any] = {"creationflags": 0x200} if sys.platform == "win32" else {"start_new_session": True}
    command = [sys.executable, "-m", "sennit.haptics.worker"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, **own)
