"""How wheels are built: Hatchling, and a hook that compiles the kernels which they carry.

A wheel is for the platform that it was built on, and holds ``sennit/shipped/*.kernels``, made by `sennit.pack_kernels`.
It is for all releases of Python: where objects lie otherwise, kernels are compiled at first use. An editable
installation, which is what ``uv run`` makes of a checkout, is built without them and needs nothing but Hatchling.
``SENNIT_KERNELS_CPU`` says what wheels are for::

    (unset)   all processors of the platform since about 2013 (x86-64-v3; elsewhere see `sennit.processor.baseline`);
              built on an older one, processors like that
    native    processors like this machine's
    none      any machine: without kernels
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import hatchling.build
from hatchling.build import *  # noqa: F403  all functions of a build backend
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
NONE = "none"


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    """What a wheel needs to be built, besides Hatchling: what runs the kernels."""
    own = [] if os.environ.get("SENNIT_KERNELS_CPU") == NONE else _project()["dependencies"]
    return [*hatchling.build.get_requires_for_build_wheel(config_settings), *own]


def _project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


class Kernels(BuildHookInterface):
    """Puts kernels into wheels."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile what is not in the cache, and tell Hatchling where it lies."""
        chosen = os.environ.get("SENNIT_KERNELS_CPU", "")
        if version != "standard" or chosen == NONE:
            return
        self._folder = tempfile.TemporaryDirectory(prefix="sennit-wheel-")
        path = os.pathsep.join([str(Path(self.root) / "src"), *filter(None, sys.path)])
        places = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "SENNIT_KERNELS": ""}
        if not chosen:
            program = "from sennit.processor import choice_for_wheels; print(choice_for_wheels())"
            places["SENNIT_KERNELS_CPU"] = self._python(["-c", program], places, stdout=subprocess.PIPE).strip()
        self._python(["-m", "sennit.pack_kernels", self._folder.name], places, stdout=sys.stderr)
        files = sorted(Path(self._folder.name).iterdir())
        if not files:
            self.app.display_warning("No kernels: this wheel is for any machine, and compiles them at first use.")
            return
        build_data["force_include"] |= {str(path): f"sennit/shipped/{path.name}" for path in files}
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{re.sub('[-.]', '_', sysconfig.get_platform())}"

    def _python(self, words: list[str], environment: dict[str, str], *, stdout: Any) -> str:
        """Run Python with the sources of this folder; what it printed, where it is caught."""
        done = subprocess.run([sys.executable, *words], env=os.environ | environment, stdout=stdout, text=True)
        if done.returncode:
            sys.exit(f"The kernels could not be compiled. SENNIT_KERNELS_CPU={NONE} builds a wheel without them.")
        return done.stdout or ""

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Delete what is in the wheel now."""
        if hasattr(self, "_folder"):
            self._folder.cleanup()
