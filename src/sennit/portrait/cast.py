"""The cast of a picture: its parts and where the numbers of each lie in a frame; and the portrait, which fills them."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any

import numpy as np

from sennit.errors import InputError
from sennit.portrait.parts import Part, Solid, SolidView, Surface, SurfaceView, Tube, TubeView
from sennit.validation import FloatArray

__all__ = ["Cast", "Portrait", "View"]

View = TubeView | SolidView | SurfaceView
_KINDS: dict[str, type[Tube] | type[Solid] | type[Surface]] = {part.kind: part for part in (Tube, Solid, Surface)}


class Cast:
    """Parts, in order; a frame of them has `size` numbers."""

    def __init__(self, parts: Iterable[Part]) -> None:
        self.parts: tuple[Any, ...] = tuple(parts)
        ends = np.cumsum([0, *(part.size for part in self.parts)])
        self.offsets: list[int] = ends[:-1].tolist()
        self.size = int(ends[-1])

    def views(self, frame: FloatArray) -> list[Any]:
        """`frame`, (size,), part by part: what each part's ``view`` gives. Nothing is copied."""
        if frame.shape != (self.size,):
            raise InputError(f"a frame of this cast has {self.size} numbers, got {frame.shape}")
        return [p.view(frame[at : at + p.size]) for p, at in zip(self.parts, self.offsets, strict=True)]

    def to_bytes(self) -> bytes:
        """The parts, to send to another process: npz with a JSON description, no pickle."""
        arrays: dict[str, Any] = {}
        described = []
        for k, part in enumerate(self.parts):
            entry: dict[str, Any] = {"kind": part.kind}
            for item in fields(part):
                value = getattr(part, item.name)
                if isinstance(value, np.ndarray):
                    arrays[f"{k}/{item.name}"] = value
                else:
                    entry[item.name] = value
            described.append(entry)
        arrays["parts"] = np.frombuffer(json.dumps(described).encode(), np.uint8)
        file = io.BytesIO()
        np.savez(file, **arrays)
        return file.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> Cast:
        """The cast that `to_bytes` wrote."""
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays = dict(file)
        parts = []
        for k, entry in enumerate(json.loads(bytes(arrays["parts"]).decode())):
            kind = _KINDS[entry.pop("kind")]
            entry |= {name.partition("/")[2]: a for name, a in arrays.items() if name.startswith(f"{k}/")}
            entry = {name: tuple(v) if isinstance(v, list) else v for name, v in entry.items()}
            parts.append(kind(**entry))
        return cls(parts)


class Portrait:
    """A cast, and what reads each part's numbers off the simulation.

    `prepare` is called when a capture begins: it can read in bulk what the parts' readers then take.
    """

    def __init__(self, prepare: Callable[[], None] | None = None) -> None:
        self._prepare = prepare
        self._parts: list[Any] = []
        self._readers: list[Callable[[Any], None]] = []
        self._subjects: list[Any] = []
        self._cast: Cast | None = None
        self._views: list[Any] = []
        self._frame = np.zeros(0)

    def add(self, part: Part, read: Callable[[Any], None], subject: Any = None) -> None:
        """Add a part; `read` fills the view of its block (`shown` is 1 already); `subject` is the body or constraint
        that it shows, or None.
        """
        self._parts.append(part)
        self._readers.append(read)
        self._subjects.append(subject)
        self._cast = None

    @property
    def cast(self) -> Cast:
        """The parts."""
        if self._cast is None:
            self._cast = Cast(self._parts)
            self._frame = np.zeros(self._cast.size)
            self._views = self._cast.views(self._frame)
        return self._cast

    def subject(self, part: int) -> Any:
        """What part number `part` shows: a body, a constraint, a sheave, or None."""
        return self._subjects[part]

    def capture(self) -> FloatArray:
        """Read all parts; (size,). The array is reused by the next capture."""
        _ = self.cast
        if self._prepare is not None:
            self._prepare()
        for view, read in zip(self._views, self._readers, strict=True):
            view.shown[0] = 1.0
            read(view)
        return self._frame
