"""The other programs: which version, and an environment for each in the cache folder.

They pin different versions of what they need, so each has its own, made on request by ``sennit bench peers --install``
with uv where there is one and with venv and pip elsewhere. An environment counts as there when its Python answers with
the version that is wanted: one that was left half made does not.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sennit.compilation import cache_folder
from sennit.errors import InputError

__all__ = ["PEERS", "Peer", "chosen", "clean_environment", "folder_of", "install", "installed", "python_of"]

_LONGEST_INSTALL = 1200.0
"""Time after which making an environment is given up, s."""


@dataclass(frozen=True, slots=True)
class Peer:
    """Another program."""

    name: str
    package: str
    version: str
    more: tuple[str, ...]
    """What else its script needs, as requirements."""
    script: str
    limit: float = 600.0
    """Seconds after which its script is ended."""

    @property
    def title(self) -> str:
        """Name and version."""
        return f"{self.name} {self.version}"


_COMMON = ("numpy", "scipy")

PEERS = {
    peer.package: peer
    for peer in (
        Peer("PyElastica", "pyelastica", "1.0.0", _COMMON, "run_pyelastica.py"),
        Peer("MuJoCo", "mujoco", "4.0.0", _COMMON, "run_mujoco.py"),
        Peer("Newton", "newton", "1.7.0", (*_COMMON, "warp-lang"), "run_newton.py", limit=900.0),
        Peer("pypbd", "pypbd", "2.2.2", _COMMON, "run_pypbd.py"),
    )
}
"""By the name of the package."""


def chosen(only: str | None) -> list[Peer]:
    """The peers named in `only`, "pypbd,newton", or all of them."""
    if only is None:
        return list(PEERS.values())
    names = [name.strip().lower() for name in only.split(",") if name.strip()]
    unknown = [name for name in names if name not in PEERS and name != "sennit"]
    if unknown or not names:
        raise InputError(f"--only must name some of {', '.join(PEERS)} (or sennit alone), got {only!r}")
    return [peer for name, peer in PEERS.items() if name in names]


def folder_of(peer: Peer) -> Path:
    """Where its environment is, or will be."""
    return cache_folder() / "peers" / f"{peer.package}-{peer.version}"


def python_of(folder: Path) -> Path:
    """The interpreter of an environment."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def clean_environment() -> dict[str, str]:
    """This process's environment without what would change another Python, and with one thread for all libraries."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON") and key != "VIRTUAL_ENV"}
    threads = ("OMP", "OPENBLAS", "MKL", "NUMBA", "NUMEXPR", "VECLIB_MAXIMUM", "RAYON", "BLIS")
    return kept | {f"{name}_NUM_THREADS": "1" for name in threads} | {"PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1"}


def installed(peer: Peer, folder: Path | None = None) -> bool:
    """Whether its environment answers with the version that is wanted."""
    python = python_of(folder_of(peer) if folder is None else folder)
    if not python.is_file():
        return False
    question = f"from importlib.metadata import version; print(version({peer.package!r}))"
    try:
        answer = subprocess.run(
            [str(python), "-I", "-c", question], capture_output=True, text=True, timeout=60, env=clean_environment()
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0 and answer.stdout.strip() == peer.version


def install(peer: Peer, report: Callable[[str], None] = lambda text: None) -> str:
    """Make its environment; returns "" or why it could not be made."""
    folder = folder_of(peer)
    folder.parent.mkdir(parents=True, exist_ok=True)
    wanted = [f"{peer.package}=={peer.version}", *peer.more]
    python = str(python_of(folder))
    uv = shutil.which("uv")
    if uv is not None:
        commands = [
            [uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)],
            [uv, "pip", "install", "--quiet", "--python", python, *wanted],
        ]
    else:
        commands = [
            [sys.executable, "-m", "venv", "--clear", str(folder)],
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted],
        ]
    report(f"installing {peer.title}")
    for command in commands:
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=_LONGEST_INSTALL, env=clean_environment()
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"{' '.join(command[:3])}: {error}"
        if done.returncode != 0:
            lines = (done.stderr.strip() or done.stdout.strip() or f"exit status {done.returncode}").splitlines()
            return lines[-1][:300]
    return "" if installed(peer) else f"{peer.package} {peer.version} was installed but does not answer"
