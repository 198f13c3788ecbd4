"""The order of the package's tree: a file imports only from what stands above it, and kernels keep to themselves.

Three rules are read off the sources:

* A file imports only from parts of the package that stand above its own in `ORDER`. Imports inside functions may point
  downwards where `DOWNWARDS` says why, and nowhere else; imports at module level never.
* No folder is there for one file alone, but for the folders of kernels.
* Compiled functions live in folders called ``kernels``, which import from the package only other such files,
  ``compilation``, ``lanes`` and ``threads``: the cache of machine code is keyed on those sources alone; whatever else a
  kernel used could change without a new compilation.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import sennit

PACKAGE = Path(sennit.__file__).parent

SURFACE = "__init__"  # sennit/__init__.py: what users see, made of all above it
ORDER = (
    "errors",
    "attributes",
    "validation",
    "tables",
    "sending",
    "given",
    "lanes",
    "kernel_arguments",
    "processor",
    "kernel_cache",
    "machine_code",
    "shipped_kernels",
    "carried_kernels",
    "numba_release",
    "python_entry",
    "lane_types",
    "table_types",
    "whole_program",
    "numba_cache",
    "compilation",
    "threads",
    "gpu_program",
    "gpu_driver",
    "card_trial",
    "compile_once",
    "pack_kernels",
    "geometry",
    "material",
    "linalg",
    "coupling",
    "diagrams",
    "cosserat",
    "elastostatics",
    "bodies",
    "constraints",
    "contact",
    "solve",
    "touching",
    "controls",
    "scene",
    "storage",
    "batch",
    "hair",
    "sweeping",
    "learning",
    "portrait",
    "live",
    "haptics",
    "view",
    "export",
    "importing",
    "rehearsal",
    SURFACE,
    "text",
    "harness",
    "demos",
    "bench",
    "commands",
    "cli",
    "__main__",
)
DOWNWARDS = {
    ("importing", "text.tables"): "scene files, harnesses and centrelines have one strict reader of tables",
    ("scene", "export.plot"): "scene.plot() draws what scenes know nothing of; matplotlib is optional",
    ("scene", "export.notebook"): "a notebook asks scenes themselves for their picture",
    ("scene", "storage.scene_file"): "scene.save() and Scene.load() are methods, and what reads a file makes scenes",
    ("scene", "text.reading"): "Scene.read() is a method, and what reads a file makes scenes",
    ("scene", "text.writing"): "scene.write() is a method, and what was written is read back",
    ("haptics", "view.session"): "the loop's own page is opened as any other, and only when it is asked for",
}
"""Part and module that it may import inside functions, and why."""
ALONE: dict[str, str] = {}
"""Folders with one file, and why."""
COMPILERS = {
    "kernel",
    "inlined",
    "merged",
    "parallel",
    "njit",
    "jit",
    "vectorize",
    "guvectorize",
    "cfunc",
    "stencil",
    "generated_jit",
}

Import = tuple[int, tuple[str, ...]]  # line, dotted name below the package ("cosserat", "kernels", "sweep")


def package_imports(path: Path, root: Path, *, inside_functions: bool) -> Iterator[Import]:
    """Yield what the file at `path` imports from the package at `root`, relative imports resolved."""
    name = root.name
    # A module's relative imports start at its folder, and so do a package's.
    here = (name, *path.relative_to(root).parent.parts)
    pending: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"), filename=str(path))]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and not inside_functions:
            # Decorators and default values are evaluated at module level, but contain no import statements.
            continue
        pending.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.Import):
            for alias in node.names:
                parts = tuple(alias.name.split("."))
                if parts[0] == name:
                    yield node.lineno, parts[1:]
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else ()
            parts = (*base, *(node.module.split(".") if node.module else ()))
            if parts[:1] == (name,):
                for alias in node.names:
                    yield node.lineno, (*parts[1:], alias.name)


def part_of(parts: tuple[str, ...], root: Path) -> str:
    """Return the part of the tree that a dotted name or a path below the package belongs to."""
    head = parts[0] if parts else SURFACE
    is_module = (root / head).is_dir() or (root / f"{head}.py").is_file()
    return head if is_module else SURFACE


def order_violations(root: Path, allowed: Iterable[tuple[str, str]] = ()) -> list[str]:
    """Return each import in the package at `root` that points at a later part of the tree.

    `allowed` are imports inside functions that may; one that is not used is returned too.
    """
    found = []
    unused = set(allowed)
    for path in sorted(root.rglob("*.py")):
        where = path.relative_to(root)
        own = part_of(where.with_suffix("").parts, root)
        if own not in ORDER:
            found.append(f"{where}: {own!r} has no place in the order of the tree")
            continue
        at_module_level = set(package_imports(path, root, inside_functions=False))
        for line, parts in sorted(package_imports(path, root, inside_functions=True)):
            other = part_of(parts, root)
            inside = (line, parts) not in at_module_level
            if other not in ORDER:
                found.append(f"{where}:{line}: {other!r} has no place in the order of the tree")
            elif ORDER.index(other) > ORDER.index(own):
                fits = {(part, name) for part, name in allowed if part == own and is_below(parts, name)}
                if inside and fits:
                    unused -= fits
                else:
                    where_it_is = " inside a function" if inside else ""
                    found.append(f"{where}:{line}: {own} imports {other}{where_it_is}, which stands below it")
    return found + [f"{part} no longer imports {name}: strike it from the list" for part, name in sorted(unused)]


def is_below(parts: tuple[str, ...], name: str) -> bool:
    """Whether a dotted name is a module's, or that of something in it."""
    names = tuple(name.split("."))
    return parts[: len(names)] == names


def lonely_folders(root: Path, allowed: Iterable[str] = ()) -> list[str]:
    """Return each folder with one Python file beside ``__init__.py`` and nothing below it, but for those of kernels."""
    alone = set()
    for folder in root.rglob("*"):
        if folder.is_dir() and folder.name not in ("kernels", "__pycache__"):
            # Files of kernels count: they stand in a folder because they must.
            if len([path for path in folder.rglob("*.py") if path.name != "__init__.py"]) == 1:
                alone.add(folder.relative_to(root).as_posix())
    found = [f"{name}: a folder for one file" for name in sorted(alone - set(allowed))]
    return found + [
        f"{name} holds more than one file, or none: strike it from the list" for name in set(allowed) - alone
    ]


def kernel_violations(root: Path) -> list[str]:
    """Return each compiled function outside a ``kernels`` folder, and each import by which one reaches outside them."""
    found = []
    for path in sorted(root.rglob("*.py")):
        where = path.relative_to(root)
        if "kernels" in where.parts[:-1]:
            for line, parts in package_imports(path, root, inside_functions=True):
                if not (parts[:1] in (("compilation",), ("lanes",), ("threads",)) or "kernels" in parts):
                    found.append(f"{where}:{line}: kernels import {'.'.join(parts) or root.name}")
        elif where.as_posix() != "compilation.py":
            tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
            for line in sorted(compiled_at(tree, in_function=False)):
                found.append(f"{where}:{line}: a compiled function outside a kernels folder")
    return found


def compiled_at(node: ast.AST, *, in_function: bool) -> Iterator[int]:
    """Yield the lines below `node` where a function is compiled: by a decorator, or by a call.

    Inside a function Numba may be called, to compile what a user passes; our own `kernel` may not.
    """
    is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    if is_function:
        for decorator in node.decorator_list:
            if not isinstance(decorator, ast.Call) and compiler_name(decorator):
                yield decorator.lineno
    elif isinstance(node, ast.Call) and (name := compiler_name(node.func)):
        if name == "kernel" or not in_function:
            yield node.lineno
    for child in ast.iter_child_nodes(node):
        outside = is_function and child in node.decorator_list
        yield from compiled_at(child, in_function=in_function or (is_function and not outside))


def compiler_name(expression: ast.expr) -> str | None:
    """Return "njit" for ``njit`` and ``numba.njit``, likewise for the other compilers, None for all else."""
    if isinstance(expression, ast.Name):
        name, owner = expression.id, "numba"
    elif isinstance(expression, ast.Attribute) and isinstance(expression.value, ast.Name):
        name, owner = expression.attr, expression.value.id
    else:
        return None
    return name if name in COMPILERS and owner in {"numba", "nb", "cuda", "compilation"} else None


def test_each_file_imports_only_what_stands_above_it() -> None:
    assert order_violations(PACKAGE, DOWNWARDS) == []


def test_no_folder_is_there_for_one_file() -> None:
    assert lonely_folders(PACKAGE, ALONE) == []


def test_kernels_keep_to_themselves() -> None:
    assert kernel_violations(PACKAGE) == []


def test_kernels_are_found() -> None:
    """The rule above is empty if the kernels have moved."""
    kernels = [path for path in PACKAGE.rglob("kernels/*.py") if "@kernel" in path.read_text(encoding="utf-8")]
    assert kernels


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small package that keeps both rules."""
    root = tmp_path / "sennit"
    write(root, "__init__.py", "from sennit.bodies.strand.strand import Strand\n")
    write(root, "errors.py", "import math\n")
    write(root, "compilation.py", "import numba\n\ndef kernel(f):\n    return numba.njit(f)\n")
    write(root, "geometry/__init__.py", "from .kernels.maps import exp\nfrom ..errors import InputError\n")
    write(
        root,
        "geometry/kernels/maps.py",
        "from sennit.compilation import kernel\n\n@kernel\ndef exp(x):\n    return x\n",
    )
    write(
        root,
        "cosserat/kernels/sweep.py",
        "from sennit.compilation import kernel\nfrom sennit.geometry.kernels.maps import exp\n",
    )
    write(root, "bodies/__init__.py", "")
    write(root, "bodies/strand.py", "from sennit.cosserat import kernels\n\ndef show():\n    from sennit import view\n")
    write(
        root, "bodies/law.py", "import numba\n\ndef compiled(law):\n    return numba.cfunc('float64(float64)')(law)\n"
    )
    write(root, "view/__init__.py", "from sennit.bodies.strand.strand import Strand\n")
    write(root, "demos/suture.py", "import sennit as sn\nfrom sennit import Strand\n")
    write(root, "cli.py", "import sennit.demos\nfrom sennit import errors\n")
    return root


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


SHOWN = (("bodies", "view"),)


def test_the_small_tree_keeps_the_rules(tree: Path) -> None:
    assert order_violations(tree, SHOWN) == []
    assert kernel_violations(tree) == []


@pytest.mark.parametrize(
    ("allowed", "message"),
    [
        ((), "bodies/strand.py:4: bodies imports view inside a function, which stands below it"),
        ((("bodies", "view.session"),), "bodies/strand.py:4: bodies imports view inside a function"),
        ((("scene", "view"),), "bodies/strand.py:4: bodies imports view inside a function"),
        ((*SHOWN, ("bodies", "export")), "bodies no longer imports export: strike it"),
        ((*SHOWN, ("geometry", "errors")), "geometry no longer imports errors: strike it"),  # above it anyway
    ],
)
def test_imports_inside_functions_keep_to_the_list(tree: Path, allowed: Any, message: str) -> None:
    assert [line for line in order_violations(tree, allowed) if line.startswith(message)]


def test_the_list_is_for_functions_alone(tree: Path) -> None:
    write(tree, "bodies/rod.py", "from sennit import view\n")
    assert order_violations(tree, SHOWN) == ["bodies/rod.py:1: bodies imports view, which stands below it"]


def test_a_folder_for_one_file_is_found(tree: Path) -> None:
    (tree / "view" / "session.py").write_text("", encoding="utf-8")
    (tree / "demos" / "crane.py").write_text("", encoding="utf-8")
    for part in ("geometry", "cosserat"):
        write(tree, f"{part}/one.py", "")
    assert lonely_folders(tree) == ["view: a folder for one file"]
    assert lonely_folders(tree, ["view"]) == []
    write(tree, "view/page/__init__.py", "")
    assert lonely_folders(tree) == ["view: a folder for one file"]
    write(tree, "view/page/server.py", "")
    assert lonely_folders(tree, ["view"]) == [
        "view/page: a folder for one file", "view holds more than one file, or none: strike it from the list",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("errors.py", "from sennit.geometry import exp\n", "errors.py:1: errors imports geometry"),
        ("errors.py", "import math\nimport sennit.view\n", "errors.py:2: errors imports view"),
        ("geometry/pose.py", "from ..bodies import strand\n", "geometry/pose.py:1: geometry imports bodies"),
        ("geometry/pose.py", "from .. import bodies\n", "geometry/pose.py:1: geometry imports bodies"),
        ("bodies/rod.py", "from sennit import Strand\n", "bodies/rod.py:1: bodies imports __init__"),
        ("bodies/rod.py", "import sennit\n", "bodies/rod.py:1: bodies imports __init__"),
        ("bodies/rod.py", "try:\n    import sennit.view\nexcept ImportError:\n    pass\n", "bodies/rod.py:2"),
        ("bodies/rod.py", "class Rod:\n    from sennit import view\n", "bodies/rod.py:2: bodies imports view"),
        ("__init__.py", "from sennit import cli\n", "__init__.py:1: __init__ imports cli"),
        ("rubber.py", "", "rubber.py: 'rubber' has no place"),
        ("view/page.py", "import sennit.rubber\n", "view/page.py:1: view imports __init__"),
    ],
)
def test_a_planted_import_is_found(tree: Path, name: str, text: str, message: str) -> None:
    write(tree, name, text)
    assert [line for line in order_violations(tree) if line.startswith(message)]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "bodies/rod.py",
            "from sennit.compilation import kernel\n\n@kernel\ndef f(x):\n    return x\n",
            "bodies/rod.py:3",
        ),
        (
            "bodies/rod.py",
            "from sennit.compilation import inlined\n\n@inlined\ndef f(x):\n    return x\n",
            "bodies/rod.py:3",
        ),
        ("bodies/rod.py", "from numba import njit\n\n@njit(cache=True)\ndef f(x):\n    return x\n", "bodies/rod.py:3"),
        ("bodies/rod.py", "import numba\n\n@numba.njit\ndef f(x):\n    return x\n", "bodies/rod.py:3"),
        ("bodies/rod.py", "import numba\n\nf = numba.njit(abs)\n", "bodies/rod.py:3"),
        ("bodies/rod.py", "def make():\n    return kernel(abs)\n", "bodies/rod.py:2"),
        (
            "cosserat/kernels/sweep.py",
            "from sennit.errors import InputError\n",
            "cosserat/kernels/sweep.py:1: kernels import errors",
        ),
        (
            "cosserat/kernels/sweep.py",
            "from sennit import geometry\n",
            "cosserat/kernels/sweep.py:1: kernels import geometry",
        ),
        (
            "cosserat/kernels/sweep.py",
            "def f():\n    from .. import laws\n",
            "cosserat/kernels/sweep.py:2: kernels import cosserat.laws",
        ),
        ("cosserat/kernels/sweep.py", "import sennit\n", "cosserat/kernels/sweep.py:1: kernels import sennit"),
    ],
)
def test_a_planted_kernel_is_found(tree: Path, name: str, text: str, message: str) -> None:
    write(tree, name, text)
    assert [line for line in kernel_violations(tree) if line.startswith(message)]
