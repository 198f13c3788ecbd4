"""The cast of a picture: its parts and where the numbers of each lie in a frame; and the portrait, which fills them."""

from __future__ import annotations

import hashlib
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
        known: dict[tuple[Any, ...], str] = {}  # parts of one shape share its arrays
        described = []
        for part in self.parts:
            entry: dict[str, Any] = {"kind": part.kind}
            for item in fields(part):
                value = getattr(part, item.name)
                if isinstance(value, np.ndarray):
                    key = value.dtype.str, value.shape, hashlib.blake2b(np.ascontiguousarray(value).tobytes()).digest()
                    name = known.setdefault(key, str(len(known)))
                    arrays[name] = value
                    entry.setdefault("arrays", {})[item.name] = name
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
        for entry in json.loads(bytes(arrays["parts"]).decode()):
            kind = _KINDS[entry.pop("kind")]
            entry |= {item: arrays[name] for item, name in entry.pop("arrays", {}).items()}
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
        self._readers: list[Callable[[Any], None] | None] = []
        self._subjects: list[Any] = []
        self._cast: Cast | None = None
        self._reading: list[tuple[Any, Callable[[Any], None]]] = []
        self._frame = np.zeros(0)

    def add(self, part: Part, read: Callable[[Any], None] | None, subject: Any = None) -> None:
        """Add a part; `read` fills the view of its block (`shown` is 1 already), or `fill` does, if it is None;
        `subject` is the body or constraint that it shows, or None.
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
            both = zip(self._cast.views(self._frame), self._readers, strict=True)
            self._reading = [(view, read) for view, read in both if read is not None]
        return self._cast

    def subject(self, part: int) -> Any:
        """What part number `part` shows: a body, a constraint, a sheave, or None."""
        return self._subjects[part]

    def fill(self, frame: FloatArray) -> None:
        """Fill the blocks of parts without a reader, all at once."""

    def capture(self) -> FloatArray:
        """Read all parts; (size,). The array is reused by the next capture."""
        _ = self.cast
        if self._prepare is not None:
            self._prepare()
        self.fill(self._frame)
        for view, read in self._reading:
            view.shown[0] = 1.0
            read(view)
        return self._frame
