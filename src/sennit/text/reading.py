"""Scenes from text (TOML). No code is run by a file, and every key is one that there is."""

from __future__ import annotations

import math
import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sennit import validation
from sennit.errors import InputError
from sennit.text import schema
from sennit.text.beside import Beside
from sennit.text.lines import Lines
from sennit.text.making import At, Making
from sennit.text.schema import GROUPS, NAMED, Maker
from sennit.text.tables import read_text
from sennit.validation import quoted

if TYPE_CHECKING:
    from sennit.scene.scene import Scene

__all__ = ["Run", "SceneFile", "read_scene", "scene_of_text"]

MOST_ENTRIES = 20_000
_CHAIN = re.compile(r"(?:\.[ \t]*[\w\"'-]{1,200}[ \t]*){10}")


@dataclass(frozen=True)
class Run:
    """The table ``[run]``: how `sennit run` runs the scene unless its options say otherwise."""

    settle: bool = False
    """Find the equilibrium first."""
    seconds: float | None = None
    dt: float | None = None
    record: str | None = None
    """Name of the file that is written, beside the scene's."""


@dataclass(frozen=True)
class SceneFile:
    """What a scene file holds."""

    scene: Scene
    run: Run
    things: dict[tuple[str, Any], Any]
    """What its entries became, by group and key or number."""


def read_scene(path: str | os.PathLike[str]) -> SceneFile:
    """The scene in a TOML file. Raises `InputError` with its name, a line and what is wrong there."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"path must be a file name that ends in .toml, got {quoted(path)}")
    try:
        file = Path(path)
    except Exception:  # whatever the value's own methods raise
        raise InputError(f"path must be a file name that ends in .toml, got {quoted(path)}") from None
    return scene_of_text(read_text(file, "a scene file (.toml)", (".toml",)), str(file), file.parent)


def scene_of_text(text: str, name: str = "text", folder: Path | None = None) -> SceneFile:
    """The scene that a TOML text tells; files that it names lie in `folder`."""
    text = text.replace("\r\n", "\n")
    if chain := _CHAIN.search(text):  # tomllib's time and memory grow with the square of their length
        raise InputError(f"{name}, line {text.count(chr(10), 0, chain.start()) + 1}: a key of more than ten parts")
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as problem:
        words = "it is nested too deeply" if isinstance(problem, RecursionError) else str(problem)
        line = re.search(r"\(at line (\d+), column (\d+)\)", words)
        where = f", line {line[1]}" if line else ""
        rest = re.sub(r"\s*\(at [^)]*\)", "", words)[:200]
        raise InputError(f"{name}{where}: this is no TOML: {rest}") from None
    return _Reader(document, Lines(text), name, Beside(folder)).read()


class _Reader(Making):
    """Makes a scene of a document."""

    def read(self) -> SceneFile:
        from sennit.scene.scene import Scene

        self._check_groups()
        maker = Maker("scene", Scene, Scene)
        self.scene: Scene = self._call(maker, self._table("scene"), ("scene",))
        for group in GROUPS.values():
            entries = self._document.get(group.name, [] if group.listed else {})
            pairs = enumerate(entries) if group.listed else entries.items()
            for key, entry in pairs:
                at = (group.name, key)
                self._made[at] = getattr(self, f"_make_{group.name}")(entry, key, at)
        self._set(self.scene.contacts, self._table("contacts"), ("contacts",), "the numbers of all contacts")
        return SceneFile(self.scene, self._run(), self._made)

    def _check_groups(self) -> None:
        known = {*GROUPS, "scene", "run", "contacts"}
        count = 0
        for name, content in self._document.items():
            if name not in known:
                self._unknown((name,), "table", name, known)
            group = GROUPS.get(name)
            if group is None or not group.listed:
                if not isinstance(content, dict):
                    self.refuse((name,), f"{name} must be a table, [{name}{'.NAME' if group else ''}]")
                if group is None:
                    continue
            if group.listed and not (isinstance(content, list) and all(isinstance(one, dict) for one in content)):
                self.refuse((name,), f"{name} must be a list of tables, each begins with [[{name}]]")
            for key, entry in enumerate(content) if group.listed else content.items():
                count += 1
                if not isinstance(entry, dict) and name != "point":
                    self.refuse((name, key), f"it must be a table, [{name}.NAME] with keys below, got {quoted(entry)}")
                if name in NAMED or name in ("point", "sheave"):
                    if key == "world":
                        self.refuse((name, key), "nothing else can be called world")
                    others = [g for g in (*NAMED, "point", "sheave") if g != name and key in self._document.get(g, ())]
                    if others and self._lines.of((name, key)) > self._lines.of((others[0], key)):
                        self.refuse((name, key), f"a {others[0]} has this name already: names are for one thing")
        if count > MOST_ENTRIES:
            raise InputError(f"{self._file}, line 1: more than {MOST_ENTRIES} entries")

    def _table(self, name: str) -> dict[str, Any]:
        content: dict[str, Any] = self._document.get(name, {})
        return content

    # --------------------------------------------------------------------------------------------------------- groups

    def _make_material(self, entry: dict[str, Any], key: str, at: At) -> Any:
        return self._keep("material", key, self._class("Material", entry, at))

    def _make_section(self, entry: dict[str, Any], key: str, at: At) -> Any:
        from sennit.material import Section

        return self._keep("section", key, self._chosen(schema.makers_of(Section), entry, at, "section"))

    def _make_route(self, entry: dict[str, Any], key: str, at: At) -> Any:
        return self._keep("route", key, self._class("Route", entry, at))

    def _make_point(self, entry: Any, key: str, at: At) -> Any:
        if not isinstance(entry, list) or not entry or not isinstance(entry[0], str):
            self.refuse(at, f'it must be ["world", [x, y, z]] or a place on a body, got {quoted(entry)}')
        return self._keep("point", key, self._point(entry, at))

    def _make_sheave(self, entry: dict[str, Any], key: str, at: At) -> Any:
        return self._keep("sheave", key, self._class("Sheave", entry, at))

    def _keep(self, pool: str, key: str, value: Any) -> Any:
        self._values[pool][key] = value
        return value

    def _class(self, name: str, entry: dict[str, Any], at: At) -> Any:
        import sennit

        kind = getattr(sennit, name)
        return self._call(Maker(name.lower(), kind, kind), entry, at)

    def _thing(self, made: Any, key: str, at: At, **options: Any) -> Any:
        self._things[key] = self._try(at, {}, lambda: self.scene.add(made, **options))
        return made

    def _make_rod(self, entry: dict[str, Any], key: str, at: At) -> Any:
        from sennit.bodies.rod.rod import Rod

        return self._thing(self._chosen(schema.makers_of(Rod), {"name": key, **entry}, at, "rod"), key, at)

    def _make_rigid(self, entry: dict[str, Any], key: str, at: At) -> Any:
        from sennit.bodies.rigid.body import RigidBody

        return self._thing(self._chosen(schema.makers_of(RigidBody), {"name": key, **entry}, at, "rigid"), key, at)

    def _make_zone(self, entry: dict[str, Any], key: str, at: At) -> Any:
        from sennit.bodies.zone.zone import Zone

        made = self._chosen(schema.makers_of(Zone), {"name": key, **entry}, at, "zone", extra=("on", "weight"))
        on = self._value(entry["on"], frozenset({"Point"}), (*at, "on")) if "on" in entry else None
        return self._thing(made, key, at, on=on, weight=entry.get("weight", False))

    def _make_slider(self, entry: dict[str, Any], key: str, at: At) -> Any:
        return self._thing(self._class("Slider", {"name": key, **entry}, at), key, at)

    def _make_pearl(self, entry: dict[str, Any], key: str, at: At) -> Any:
        return self._thing(self._class("Pearl", {"name": key, **entry}, at), key, at)

    def _make_obstacle(self, entry: dict[str, Any], key: str, at: At) -> Any:
        from sennit.contact.inside import Inside
        from sennit.contact.obstacle import Obstacle

        rest = {"name": key, **entry}
        if "inside" in entry:
            inside = rest.pop("inside")
            if not isinstance(inside, dict):
                self.refuse((*at, "inside"), f"inside must be a table of the arguments of Inside, got {quoted(inside)}")
            return self._thing(self._call(Maker("inside", Inside, Inside), rest | inside, at), key, at)
        maker, shapes = Maker("obstacle", Obstacle, Obstacle), schema.shapes()
        if "shapes" in entry:
            given = rest.pop("shapes")
            if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
                message = "shapes must be a list of tables, [{ box = … }, …], got "
                self.refuse((*at, "shapes"), message + quoted(given))
            return self._thing(self._call(maker, rest | {"shape": given}, at), key, at)
        own = {name: value for name, value in rest.items() if name in shapes or name == "moved"}
        if not any(name in shapes for name in own):
            self._chosen(shapes, own or entry, at, "shape")
        others = {name: value for name, value in rest.items() if name not in own}
        if "shape" in others:
            self.refuse((*at, "shape"), f"a shape stands by its own name, one of {', '.join(shapes)}")
        return self._thing(self._call(maker, others | {"shape": own}, at), key, at)

    def _make_hold(self, entry: dict[str, Any], key: int, at: At) -> Any:
        makers = schema.holds()
        kind = entry.get("kind")
        if not isinstance(kind, str):
            self.refuse(at, f"kind is missing: {', '.join(makers)}")
        name = kind.lower().replace("_", "").replace(" ", "")
        if name not in makers:
            self._unknown((*at, "kind"), "constraint", kind, makers)
        made = self._call(makers[name], {k: v for k, v in entry.items() if k != "kind"}, at)
        return self._try(at, {}, lambda: self.scene.add(made))

    def _make_load(self, entry: dict[str, Any], key: int, at: At) -> Any:
        made = self._class("Load", entry, at)
        return self._try(at, {}, lambda: self.scene.add(made))

    def _make_contact(self, entry: dict[str, Any], key: int, at: At) -> Any:
        from sennit.scene.colliding import Contact

        rest = dict(entry)
        ignored = rest.pop("ignore", False)
        if not isinstance(ignored, bool):
            self.refuse((*at, "ignore"), f"ignore must be true or false, got {quoted(ignored)}")
        act = self.scene.ignore if ignored else self.scene.collide
        return self._call(Maker("ignore" if ignored else "collide", act, Contact), rest, at, extra=("ignore",))

    # ------------------------------------------------------------------------------------------------------- [run]

    def _run(self) -> Run:
        entry, at = self._table("run"), ("run",)
        known = Run.__dataclass_fields__
        for key in entry:
            if key not in known:
                self._unknown((*at, key), "key of run:", key, known)
        settle = self._try((*at, "settle"), entry, lambda: validation.flag("settle", entry.get("settle", False)))
        numbers = {
            key: self._try((*at, key), entry, lambda key=key: validation.number(key, entry[key], positive=True))
            for key in ("seconds", "dt")
            if key in entry
        }
        record = entry.get("record")
        if record is not None:
            from sennit.export.record import SUFFIXES

            plain = isinstance(record, str) and record == os.path.basename(record) and not record.startswith(".")
            if not plain or "\\" in record or Path(record).suffix.lower() not in SUFFIXES or "\0" in record:
                kinds = ", ".join(SUFFIXES)
                self.refuse(
                    (*at, "record"),
                    f"record must be a file name without a folder, of one of {kinds}, got {quoted(record)}",
                )
        if not math.isfinite(numbers.get("seconds", 0.0)):
            self.refuse((*at, "seconds"), "seconds must be finite")
        return Run(settle, numbers.get("seconds"), numbers.get("dt"), record)
