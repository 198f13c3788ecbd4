"""A package called sennit with a few small kernels, and sennit's own way to compile, keep and ship them."""

from __future__ import annotations

import shutil
from pathlib import Path

from sennit import kernel_cache

PACKAGE = Path(kernel_cache.__file__).parent

# A package of small kernels: the scene reaches geometry through the points, zones reach linalg, strands geometry.
SOURCES = {
    "__init__.py": "",
    "geometry/kernels/algebra.py": "from sennit.compilation import inlined\n@inlined\ndef twice(x):\n    return 2*x\n",
    "geometry/kernels/distances.py": "from sennit.compilation import kernel\n@kernel\ndef far(x):\n    return x\n",
    "linalg/kernels/bounded.py": "from sennit.compilation import kernel\n@kernel\ndef solve(x):\n    return x + 1\n",
    "cosserat/kernels/sweep.py": (
        "from sennit.compilation import kernel\nfrom sennit.geometry.kernels.algebra import twice\n"
        "@kernel\ndef sweep(x):\n    return twice(x)\n"
    ),
    "elastostatics/contact/kernels/press.py": (
        "from sennit.compilation import kernel\nfrom sennit.linalg.kernels.bounded import solve\n"
        "@kernel\ndef press(x):\n    return solve(x)\n"
    ),
    "point/kernels/points.py": (
        "from sennit.compilation import kernel\nfrom sennit.geometry.kernels import (\n    algebra,\n)\n"
        "twice = algebra.twice\n@kernel\ndef place(x):\n    return twice(x)\n"
    ),
    "solve/kernels/stage.py": (
        "from sennit.compilation import kernel\nfrom ...point.kernels.points import place\n"
        "@kernel\ndef step(x):\n    return place(x)\n"
    ),
    "rehearsal.py": (
        "from sennit.cosserat.kernels.sweep import sweep\nfrom sennit.solve.kernels.stage import step\n"
        "from sennit.elastostatics.contact.kernels.press import press\n"
        "SCENE, STRAND, ZONE = [lambda: step(3)], [lambda: sweep(3)], [lambda: press(3)]\n"
    ),
}  # fmt: skip
BESIDES = (
    "compile_once.py", "errors.py", "kernel_cache.py", "numba_cache.py", "pack_kernels.py", "processor.py",
    "shipped_kernels.py", "tables.py",
)  # fmt: skip
"""What kernels need besides the compiler, and no kernel's stamp knows of."""


def write_package(root: Path) -> Path:
    """The package with its own compiler and cache, and the small kernels."""
    root.mkdir(parents=True, exist_ok=True)
    for name in (*kernel_cache._COMPILER, *BESIDES):
        shutil.copy(PACKAGE / name, root / name)
    for name, text in SOURCES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root
