"""The reference of the interface: no public name is missing, docstrings are sound, pages load nothing from outside."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import docutils.core
import docutils.nodes
import docutils.parsers.rst.roles
import docutils.utils
import pytest
from sphinx.util import inspect as sphinx_inspect

import sennit
import sennit.learning

DOCS = Path(__file__).parents[1] / "docs"


def part_of_docs(name: str) -> ModuleType:
    """One of the modules beside the handbook's pages."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGES = part_of_docs("reference_pages")
OFFLINE = part_of_docs("offline_pages")
LINKED = part_of_docs("linked_names")
NAMES = [(group, name) for group in PAGES.GROUPS.values() for names in group.pages for name in names.split()]


def test_every_public_name_has_its_place() -> None:
    by_package: dict[str, list[str]] = {}
    for group, name in NAMES:
        by_package.setdefault(group.package, []).append(name)
    assert sorted(by_package["sennit"]) == sorted(sennit.__all__)
    assert sorted([*by_package["sennit.learning"], "ENVIRONMENTS"]) == sorted(sennit.learning.__all__)


def test_the_index_lists_all_groups_and_the_handbook_has_all_pages() -> None:
    index = (DOCS / "reference" / "index.md").read_text(encoding="utf-8")
    listed = index.split("```{toctree}")[1].split("```")[0].split()
    assert [word for word in listed if not word.startswith(":") and not word.isdigit()] == list(PAGES.GROUPS)
    for group in PAGES.GROUPS.values():
        for handbook in group.pages.values():
            assert (DOCS / f"{handbook}.md").is_file()
    assert set(PAGES.GIVEN) <= {name for _, name in NAMES}


def members_of(kind: type) -> Iterator[tuple[str, Any]]:
    """Public members that are the library's own, inherited ones too."""
    for name in dir(kind):
        if not name.startswith("_"):
            home = next(base for base in kind.__mro__ if name in vars(base) or base is object)
            if home.__module__.startswith("sennit") and name in vars(home):
                yield name, inspect.getattr_static(kind, name)


def told(group: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Classes, functions, methods and properties of a page, by the names that they have there."""
    thing = PAGES.object_of(group, name)
    yield name, thing
    if inspect.isclass(thing):
        for member, value in members_of(thing):
            if isinstance(value, property | classmethod | staticmethod) or inspect.isfunction(value):
                yield f"{name}.{member}", value if isinstance(value, property) else getattr(thing, member)


EVERYTHING = [item for group, name in NAMES for item in told(group, name)]


def test_the_function_is_told_of_where_a_package_has_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sennit, "view", importlib.import_module("sennit.view"))
    group = next(group for group, name in NAMES if name == "view")
    assert inspect.isfunction(PAGES.object_of(group, "view"))


def test_every_member_has_a_docstring() -> None:
    assert [name for name, thing in EVERYTHING if not inspect.getdoc(thing)] == []


def test_every_argument_is_explained() -> None:
    """In the docstring, or by what it means everywhere."""
    missing = [
        f"{name}({parameter})"
        for name, thing in EVERYTHING
        if not isinstance(thing, property) and (not inspect.isclass(thing) or PAGES._is_made_by_calling(name, thing))
        for parameter in PAGES.parameters_of(thing)
        if parameter not in PAGES.COMMON and not PAGES.is_told(parameter.lstrip("_"), inspect.getdoc(thing) or "")
    ]
    assert missing == []


def test_what_arguments_mean_everywhere_is_added_once() -> None:
    lines = PAGES.as_markup(None, "class", "sennit.Fix", sennit.Fix, (inspect.getdoc(sennit.Fix) or "").splitlines())
    text = "\n".join(lines)
    assert text.count("* ``compliance``: of the rows of lengths, m/N; 0: rigid.") == 1
    assert "* ``closing_speed``: " not in text and "``closing_speed``" in text  # which the docstring has


def test_docstrings_are_sound_markup() -> None:
    """As the handbook's build reads them, where what is wrong is an error; here it is found at once."""
    for role in ("doc", "py:class", "py:meth"):
        docutils.parsers.rst.roles.register_local_role(role, lambda *_, **__: ([], []))
    wrong = []
    for name, thing in EVERYTHING:
        what = "attribute" if isinstance(thing, property) else "class" if inspect.isclass(thing) else "function"
        text = "\n".join(PAGES.as_markup(None, what, name, thing, (inspect.getdoc(thing) or "").splitlines()))
        tree = docutils.core.publish_doctree(text, settings_overrides={"report_level": 5, "_disable_config": True})
        for message in tree.findall(docutils.nodes.system_message):
            wrong.append(f"{name}: {message.astext()}")
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`a`: one. `b` (m): two.", "* ``a``: one.\n* ``b`` (m): two."),
        ("First. `a`: one; of two. `b`: more.", "First.\n\n* ``a``: one; of two.\n* ``b``: more."),
        ("Arguments: `a`, m; `b`, 1/s.", "* ``a``, m\n* ``b``, 1/s."),
        ("Arguments: `a`, m; `b`:\n\n* one\n* two", "* ``a``, m\n* ``b``:\n\n  * one\n  * two"),
        ("Only `a`: one. See `c`.", "Only ``a``: one. See `c`."),
        ("A list\n\n* `a`: one. `b`: two.", "A list\n\n* ``a``: one. ``b``: two."),
        ("Code::\n\n    a = `a`: b", "Code::\n\n    a = ``a``: b"),
    ],
)
def test_arguments_become_lists(text: str, expected: str) -> None:
    assert "\n".join(PAGES.listed(text.splitlines(), ["a", "b"])).strip() == expected


def test_signatures_show_types_by_their_names() -> None:
    """And not what NumPy's ArrayLike is made of."""
    known = {name: name for name in PAGES.ALIASES}
    long = []
    for name, thing in EVERYTHING:
        if not isinstance(thing, property) and PAGES.parameters_of(thing):
            signature = sphinx_inspect.signature(thing, type_aliases=known)
            if "_Nested" in sphinx_inspect.stringify_signature(signature, unqualified_typehints=True):
                long.append(name)
    assert long == []


def test_what_is_not_made_by_its_class_shows_no_arguments() -> None:
    def shown(kind: type) -> Any:
        return PAGES._shown_signature(None, "class", f"sennit.{kind.__name__}", kind, None, "(x)", None)

    assert shown(sennit.Rod) == ("", None) == shown(sennit.StrandState)
    assert shown(sennit.Fix) == ("(x)", None) == shown(sennit.Scene)
    arguments = "(a: TypeAliasForwardRef('A') | None)"
    alias = PAGES._shown_signature(None, "function", "sennit.sweep", sennit.sweep, None, arguments, None)
    assert alias == ("(a: A | None)", None)


# ---------------------------------------------------------------------------------------------------- links, offline


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Rod", "sennit.Rod"),
        ("sn.Rod.straight", "sennit.Rod.straight"),
        ("Rod.straight(a, b)", "sennit.Rod.straight"),
        ("scene.settle()", "sennit.Scene.settle"),
        ("sn.record(scene, 1.0)", "sennit.record"),
        ("rope.at(0.3)", None),
        ("view", None),
        ("a = b", None),
    ],
)
def test_names_that_lead_to_the_reference(text: str, name: str | None) -> None:
    assert LINKED.full_name(text) == name


def test_what_a_page_loads_from_outside_is_found() -> None:
    page = """<link rel="stylesheet" href="https://a.b/x.css"><link rel="canonical" href="https://a.b/">
    <script src="//c.d/y.js"></script><img src="images/z.png"><img srcset="q.png, http://e.f/g.png 2x">
    <a href="https://h.i">there</a><style>@import "https://j.k/l.css"; b {background: url(https://m.n/o.png)}</style>
    <p style="background: url('//p.q/r.png')">https://s.t/u.js</p>"""
    assert OFFLINE.loads_from_outside(page) == [
        "https://a.b/x.css", "//c.d/y.js", "http://e.f/g.png 2x", "https://j.k/l.css", "https://m.n/o.png",
        "//p.q/r.png",
    ]  # fmt: skip
    assert OFFLINE.loads_from_outside("a {src: url(fonts/x.woff)} b {src: url(http://y/z)}", ".css") == ["http://y/z"]


SMALL = """
# Small

$$ e^{i\\pi} = -1 $$

`Pose`, `sn.Pose` and `scene.step()`.

```{eval-rst}
.. py:currentmodule:: sennit
.. autoclass:: Pose
   :members:
```

```{raw} html
RAW
```
"""


def build(folder: Path, raw: str) -> subprocess.CompletedProcess[str]:
    """Build a page with the handbook's settings, but for the programs with pictures."""
    source = folder / "source"
    source.mkdir(exist_ok=True)
    settings = f"import sys; sys.path.insert(0, {str(DOCS)!r})\n" + (DOCS / "conf.py").read_text(
        encoding="utf-8"
    ).replace("sys.path.insert(0, str(Path(__file__).parent))", "")
    settings += '\nextensions = [e for e in extensions if e not in ("sphinx_gallery.gen_gallery", "reference_pages")]\n'
    (source / "conf.py").write_text(settings, encoding="utf-8")
    (source / "index.md").write_text(SMALL.replace("RAW", raw), encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", str(source), str(folder / "built")]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def test_a_built_page_loads_nothing_from_outside(tmp_path: Path) -> None:
    done = build(tmp_path, "<p>fine</p>")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "built" / "index.html").read_text(encoding="utf-8")
    script = re.search(r'src="([^"?]*mathjax[^"?]*\.js)', text)
    assert script and (tmp_path / "built" / script[1]).is_file()
    fonts = tmp_path / "built" / "_static" / "mathjax" / "output" / "chtml" / "fonts" / "woff-v2"
    assert len(list(fonts.glob("*.woff"))) >= 20
    assert text.count('href="#sennit.Pose"') >= 1


def test_a_page_that_loads_from_outside_fails_the_build(tmp_path: Path) -> None:
    done = build(tmp_path, '<img src="https://example.com/a.png">')
    assert done.returncode != 0
    assert "index.html loads https://example.com/a.png" in done.stderr


def test_python_files_of_the_handbook_are_read_by_name() -> None:
    """What conf.py names as extensions beside it is there."""
    named = [node.value for node in ast.walk(ast.parse((DOCS / "conf.py").read_text(encoding="utf-8")))
             if isinstance(node, ast.Constant) and isinstance(node.value, str)]  # fmt: skip
    assert {path.stem for path in DOCS.glob("*_pages.py")} <= set(named)
