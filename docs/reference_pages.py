"""The reference of the interface: a page for each public class, generated from docstrings.

A Sphinx extension. `GROUPS` says where each name stands; the pages are written into docs/reference when a build begins,
and hold nothing but directives of autodoc. `tests/test_reference.py` sees that no name is missing.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config, GoogleDocstring

import sennit


@dataclass(frozen=True)
class Group:
    """Some pages of the reference that belong together."""

    title: str
    text: str
    pages: dict[str, str]
    """Names on each page, the first of which the page is called by, and the page of the handbook that tells more."""
    package: str = "sennit"


GROUPS = {
    "scenes": Group(
        "Scenes",
        "What moves together, how it is stepped, and what is reported of it.",
        {
            "Scene": "concepts",
            "Snapshot": "concepts",
            "StepReport": "scenes",
            "SettleReport": "scenes",
            "SceneEnergy": "scenes",
            "Event": "concepts",
            "Clock": "embedding",
        },
    ),
    "bodies": Group(
        "Bodies",
        "What owns degrees of freedom, and what it is made of.",
        {
            "Rod RodEnergy": "scenes",
            "RigidBody": "scenes",
            "Point": "concepts",
            "World WorldPoint": "concepts",
            "Material": "concepts",
            "Section": "concepts",
            "Properties": "scenes",
            "Pose": "notation",
        },
    ),
    "constraints": Group(
        "Constraints",
        "What ties points to each other or to the world. {doc}`../constraints/index` has a page with rows, forces and "
        "a picture for each.",
        {
            "Fix": "constraints/fix",
            "Clamp": "constraints/clamp",
            "Align": "constraints/align",
            "Follow": "constraints/follow",
            "Route": "constraints/follow",
            "OnPlane": "constraints/onplane",
            "OnAxis": "constraints/onaxis",
            "OnSphere": "constraints/onsphere",
            "OnCircle": "constraints/oncircle",
            "Distance": "constraints/distance",
            "Fuse": "constraints/fuse",
            "Lock": "constraints/fuse",
            "Ball": "constraints/ball",
            "Hinge": "constraints/hinge",
            "Prismatic": "constraints/prismatic",
            "Screw": "constraints/screw",
            "Motor": "constraints/hinge",
            "Slider": "constraints/slider",
            "Keyhole": "constraints/keyhole",
            "Nest": "constraints/nest",
            "Pearl": "constraints/pearl",
            "Needle": "constraints/needle",
            "Cable": "constraints/cable",
            "Sheave": "constraints/sheave",
            "Load": "constraints/load",
        },
    ),
    "contact": Group(
        "Contact and shapes",
        "Shapes with signed distances, and what is told of things that touch.",
        {
            "Obstacle": "contact",
            "Inside": "contact",
            "SceneContacts Contact ContactPair": "contact",
            "Sphere": "contact",
            "Plane": "contact",
            "Box": "contact",
            "Cylinder": "contact",
            "Capsule": "contact",
            "Mesh": "contact",
            "HeightField": "contact",
        },
    ),
    "strands": Group(
        "Strands",
        "One thread in equilibrium, solved by a call.",
        {
            "Strand": "strand",
            "StrandState StrandEnergy": "strand",
            "PointLoad": "strand",
            "Law": "strand",
            "rubber_cord": "strand",
        },
    ),
    "zones": Group(
        "Zones",
        "Soft bodies with small strains.",
        {
            "Zone": "zones",
            "ZoneState": "zones",
            "PressState": "zones",
            "ZoneChain": "zones",
            "ChainState ChainTouchState ChainPressState": "zones",
        },
    ),
    "batches": Group(
        "Batches and sweeps",
        "Many scenes, or many runs of a program, at once.",
        {"Batch BatchSnapshot": "batch", "sweep SweepFailure": "batch"},
    ),
    "hair": Group("Hair", "Very many rods that are alike.", {"Hair": "hair", "DistanceGrid": "hair"}),
    "page": Group(
        "The page",
        "A scene in the browser, and what it offers there.",
        {
            "view View": "page",
            "Control": "page",
            "Watch": "page",
            "Readout": "page",
            "Decor": "page",
        },
    ),
    "haptics": Group(
        "Haptics",
        "A hand in the loop, at 1 kHz.",
        {
            "HapticLoop": "haptics",
            "VirtualCoupling": "haptics",
            "HapticDevice DeviceState DeviceLost": "haptics",
            "ScriptedDevice": "haptics",
            "MouseDevice": "haptics",
            "ForceDimensionDevice": "haptics",
            "HaplyDevice": "haptics",
            "OpenHapticsDevice": "haptics",
            "SpaceMouseDevice": "haptics",
        },
    ),
    "export": Group(
        "Files of other programs",
        "Scenes, pictures and tables written; centrelines and mechanisms read.",
        {
            "record": "export",
            "Recording": "export",
            "read_curve": "import",
            "read_mechanism": "import",
            "Mechanism": "import",
        },
    ),
    "learning": Group(
        "Learning",
        "Environments in Gymnasium's terms: `import sennit.learning`, which needs the extra `learning`.",
        {
            "Environment": "howto/learning",
            "VectorEnvironment": "howto/learning",
            "Task": "howto/learning",
            "RopeReach": "howto/learning",
            "RopeOverPeg": "howto/learning",
            "CraneSwing": "howto/learning",
            "TentacleReach": "howto/learning",
        },
        package="sennit.learning",
    ),
    "errors": Group(
        "Exceptions",
        "What is raised, and what is reported instead. {doc}`../errors` has common messages with cause and cure.",
        {"InputError": "errors", "SolveError SolveReport": "errors"},
    ),
}

# Types that signatures show by their names; docs/reference/index.md says what they are.
ALIASES = (
    "Along", "ArrayLike", "Bound", "FloatArray", "IntArray", "NDArray", "Path", "PerFace", "PerVertex", "Profile",
    "Progress",
)  # fmt: skip

# Arguments that mean the same everywhere; where a docstring does not name one, the reference adds it from here.
COMMON = {
    "p": "the `Point` that is held or joined: `force` and `torque` are what it receives",
    "q": "the `Point` that it is joined to",
    "compliance": "of the rows of lengths, m/N; 0: rigid",
    "damping": "of the rows of lengths, N·s/m",
    "angular_compliance": "of the rows of angles, rad/(N·m); 0: rigid",
    "angular_damping": "of the rows of angles, N·m·s",
    "restitution": "speed after a shock over the speed before, 0 to 1; of one-sided rows",
    "radius": "m",
    "section": "its cross-section, a `Section`",
    "material": "what it is made of, a `Material`",
    "mass": "kg",
    "density": "kg/m³, instead of `mass`",
    "position": "of the centre of mass, (3,), m",
    "pose": "position and rotation of its frame, a `Pose`, instead of `position`",
    "shape": "what it touches with and looks like, instead of its own form",
    "thing": "what is in the scene",
    "force": "(3,), N",
    "torque": "(3,), N·m",
    "axes": "of matplotlib, to draw on; None: a new figure",
    "title": "of the page",
    "threads": "on how many cores; None: all that the process may use",
    "count": "how many environments",
    "actions": "(count, `ACTIONS`), each from −1 to 1",
    "rows": "which environments, an array of their numbers",
    "chances": "a generator of random numbers for each of them",
    "seen": "what is seen of them, (count, `OBSERVATIONS`)",
    "time": "how many actions were taken so far",
    "seed": "of the random numbers of the episodes",
    "velocity": "(3,), m/s",
    "render_mode": "only None: use `view` or `record`",
    "name": "what messages and pages call it",
    "path": "of the file",
}

# Members that Python's own classes bring along.
FOREIGN = (
    "object, BaseException, Exception, ValueError, RuntimeError, AttributeError, Protocol, Generic, Env, VectorEnv"
)

# What is not made by calling its class: its arguments would only mislead.
FOUND = re.compile(r"\b[Mm]ade by `(?!`)|, as `[\w.]+` took (?:it|them)\b")
GIVEN = {
    "BatchSnapshot", "ChainPressState", "ChainState", "ChainTouchState", "Contact", "ContactPair", "DeviceState",
    "Event", "HapticDevice", "Mechanism", "Point", "PressState", "RodEnergy", "SceneContacts", "SceneEnergy",
    "SettleReport", "SolveError", "SolveReport", "StepReport", "StrandEnergy", "StrandState", "SweepFailure",
    "World", "WorldPoint", "ZoneState",
}  # fmt: skip


def object_of(group: Group, name: str) -> Any:
    """The class or function of a group that has this name."""
    found = getattr(importlib.import_module(group.package), name)
    return getattr(found, name) if inspect.ismodule(found) else found  # `view`: see `_begin`


def page_text(group: Group, names: list[str], handbook: str) -> str:
    """A page of the reference, as reStructuredText."""
    title = ", ".join(names)
    lines = [f".. py:currentmodule:: {group.package}", "", title, "=" * len(title), ""]
    for name in names:
        if inspect.isclass(object_of(group, name)):
            lines += [f".. autoclass:: {name}", "   :members:", f"   :inherited-members: {FOREIGN}", ""]
        else:
            lines += [f".. autofunction:: {name}", ""]
    return "\n".join([*lines, f".. seealso:: :doc:`/{handbook}`, in the handbook.", ""])


def first_sentence(group: Group, name: str) -> str:
    """What a thing is, in one sentence, as Markdown: code in single backticks."""
    text = " ".join((inspect.getdoc(object_of(group, name)) or "").split("\n\n")[0].split())
    text = text.replace("``", "`").removesuffix("::")
    end = re.search(r"(?<![\d.])\.(?=\s|$)", text)
    return text[: end.start() if end else None].replace("|", "\\|")


def group_text(key: str, group: Group) -> str:
    """The page of a group, as Markdown: its names, what they are, and where the pages are."""
    rows = [
        f"| [{name}](#{group.package}.{name}) | {first_sentence(group, name)} |"
        for names in group.pages
        for name in names.split()
    ]
    pages = [f"/reference/{page_of(key, names)}" for names in group.pages]
    return "\n".join(
        [f"# {group.title}", "", group.text, "", "| | |", "|---|---|", *rows, "",
         "```{toctree}", ":hidden:", "", *pages, "```", ""]
    )  # fmt: skip


def page_of(key: str, names: str) -> str:
    """File of the page with these names, in docs/reference, without its ending."""
    return f"{key}/{names.split()[0]}"


def write_pages(folder: Path) -> None:
    """Write all pages into `folder`; those that are as they should be are not touched: a build goes on from them."""
    texts = {}
    for key, group in GROUPS.items():
        texts[folder / f"{key}.md"] = group_text(key, group)
        for names, handbook in group.pages.items():
            texts[folder / f"{page_of(key, names)}.rst"] = page_text(group, names.split(), handbook)
    for path in folder.rglob("*"):
        if path.is_file() and path not in texts and path.name != "index.md":
            path.unlink()
    for path, text in texts.items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def _begin(app: Sphinx) -> None:
    # The package and the function share the name `view`: whichever is asked for first is what the module has.
    vars(sennit)["view"] = importlib.import_module("sennit.view.session").view
    write_pages(Path(app.srcdir) / "reference")


def _shown_signature(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, signature: str | None, returned: str | None
) -> tuple[str | None, str | None] | None:
    if what in ("class", "exception") and not _is_made_by_calling(name, thing):
        return "", None
    # What Sphinx makes of an alias beside a bar.
    plain = [text and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text) for text in (signature, returned)]
    return plain[0], plain[1]


def parameters_of(thing: Any) -> list[str]:
    """Names of what a class or a function takes; none of what has no signature."""
    try:
        return [name for name in inspect.signature(thing).parameters if name != "self"]
    except (TypeError, ValueError):
        return []


def listed(lines: list[str], parameters: list[str]) -> list[str]:
    """A docstring in which arguments that are told of one after the other, in a paragraph, are a list.

    That is "`a`: text. `b` (m): text." or "Arguments: `a`, text; `b`, text.". Other arguments are code, without a link
    to the attribute by the same name.
    """
    if not parameters:
        return lines
    names = "|".join(map(re.escape, parameters))
    several = rf"`(?:{names})`(?:(?:, | and | or )`(?:{names})`)*"
    told = re.compile(rf"(?:^|(?<=[.;] )){several}(?: \([^()]*\))?: ")
    found: list[str] = []
    for paragraph in re.split(r"\n{2,}", "\n".join(lines).strip("\n")):
        text = " ".join(line.strip() for line in paragraph.splitlines())
        items: list[str] = []
        if text.startswith("Arguments: `"):
            text, items = "", re.split(rf"(?<=[;.]) (?={several}[:, ])", text.removeprefix("Arguments: "))
        elif not re.search(r"^(?: |[*>=]|\w+:$)|::$", paragraph, re.M):
            starts = [match.start() for match in told.finditer(text)]
            items = [text[a:b].strip() for a, b in itertools.pairwise([*starts, len(text)])]
            text = text[: starts[0]].strip() if len(starts) > 1 else text
        if len(items) > 1:
            found += [text] if text else []
            found.append("\n".join(f"* {item.removesuffix(';')}" for item in items))
        elif found and found[-1].startswith("* `") and found[-1].endswith(":") and paragraph.startswith("* "):
            found.append(textwrap.indent(paragraph, "  "))  # what the last of them may be
        else:
            found.append(paragraph)
    return [*re.sub(rf"(?<!`)`({names})`(?![`_])", r"``\1``", "\n\n".join(found)).splitlines(), ""]


def is_told(parameter: str, text: str) -> bool:
    """Whether a docstring names an argument."""
    return re.search(rf"\b{parameter}\b", text) is not None


def _is_made_by_calling(name: str, thing: Any) -> bool:
    return name.rpartition(".")[2] not in GIVEN and FOUND.search(inspect.getdoc(thing) or "") is None


def as_markup(app: Sphinx | None, what: str, name: str, thing: Any, lines: list[str]) -> list[str]:
    """A docstring as reStructuredText: arguments as lists. Of attributes "Length, m: at rest" is no section."""
    if what not in ("class", "exception", "function", "method"):
        return lines
    text, parameters = "\n".join(lines), parameters_of(thing)
    lines = listed(lines, parameters)
    if what == "class" and not _is_made_by_calling(name, thing):
        parameters = []
    added = [f"* ``{each}``: {COMMON[each]}." for each in parameters if each in COMMON and not is_told(each, text)]
    if added:
        lines = [*lines, "", *added, ""]
    return list(GoogleDocstring(lines, Config(napoleon_use_rtype=False), app, what, name, thing).lines())


def _with_lists(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    lines[:] = as_markup(app, what, name, thing, lines)


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pages when a build begins, and leave out signatures of what is not made by its class."""
    app.connect("config-inited", lambda app, config: _begin(app))
    app.connect("autodoc-process-signature", _shown_signature)
    app.connect("autodoc-process-docstring", _with_lists)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
