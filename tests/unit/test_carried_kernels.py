"""Compiled kernels in a file for other machines: they come over whole, and what is hostile or for others is refused."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from sennit import cli
from sennit.carried_kernels import pack_cache, unpack_cache
from sennit.errors import InputError
from sennit.kernel_cache import keep_code, kept_code, kernel_folder

NAME = "sennit.solve.kernels.stage.march-0123456789abcdef"
TITLE = b"sennit kernels 1\n"


def use(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `folder` be the cache."""
    monkeypatch.setenv("SENNIT_CACHE_DIR", str(folder))
    kernel_folder.cache_clear()


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file with two kernels and a group; the cache is another folder, and empty."""
    use(tmp_path / "there", monkeypatch)
    keep_code("scene", NAME, b"machine code")
    keep_code("zone", NAME.replace("march", "press"), b"more of it")
    (kernel_folder("scene") / "scene.ready").write_text("1987\n")
    assert pack_cache(tmp_path / "kernels") == {"zone": 1, "scene": 2}
    use(tmp_path / "here", monkeypatch)
    yield tmp_path / "kernels"
    kernel_folder.cache_clear()


def files_below(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_kernels_come_over(file: Path) -> None:
    assert unpack_cache(file) == {"zone": 1, "scene": 2}
    assert kept_code("scene", NAME) == b"machine code"
    assert kept_code("zone", NAME.replace("march", "press")) == b"more of it"
    assert (kernel_folder("scene") / "scene.ready").read_text() == "1987\n"
    assert len(files_below(file.parent / "here")) == 3, "nothing else is left behind"


def test_what_is_there_stays_and_what_is_damaged_is_mended(file: Path) -> None:
    keep_code("scene", NAME, b"compiled here")
    damaged = kernel_folder("zone") / f"{NAME.replace('march', 'press')}.o"
    damaged.write_bytes(b"half of")
    unpack_cache(file)
    assert kept_code("scene", NAME) == b"compiled here"
    assert kept_code("zone", NAME.replace("march", "press")) == b"more of it"


def test_a_link_in_the_cache_is_replaced_not_followed(file: Path) -> None:
    outside = file.parent / "outside"
    outside.write_bytes(marked(b"mine"))
    (kernel_folder("scene") / f"{NAME}.o").symlink_to(outside)
    unpack_cache(file)
    assert outside.read_bytes() == marked(b"mine")
    assert kept_code("scene", NAME) == b"machine code"


def test_only_compiled_kernels_are_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(tmp_path / "cache", monkeypatch)
    keep_code("scene", NAME, b"machine code")
    folder = kernel_folder("scene")
    for name in ("numba.nbi", "numba.1.nbc", "thesis.tex", "Makefile", "x.ready"):
        (folder / name).write_bytes(b"pickles, perhaps")
    (folder / f"{NAME[:-1]}0.o").write_bytes(b"damaged")
    assert pack_cache(tmp_path / "kernels") == {"scene": 1}
    kernel_folder.cache_clear()


def test_an_empty_cache_is_not_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(tmp_path / "cache", monkeypatch)
    with pytest.raises(InputError, match="run your program once"):
        pack_cache(tmp_path / "kernels")
    assert not (tmp_path / "kernels").exists()
    kernel_folder.cache_clear()


# --------------------------------------------------------------------------------------------------------- hostile


def known(file: Path) -> tuple[dict, bytes]:
    """The line of JSON of a file, and what follows it."""
    line, _, code = file.read_bytes()[len(TITLE) + 32 :].partition(b"\n")
    return json.loads(line), code


def written(file: Path, told: object, code: bytes) -> None:
    """A file with such a line and such content, marked as whole."""
    rest = (told if isinstance(told, bytes) else json.dumps(told).encode()) + b"\n" + code
    file.write_bytes(TITLE + hashlib.sha256(rest).digest() + rest)


def marked(code: bytes) -> bytes:
    return hashlib.sha256(code).digest() + code


@pytest.mark.parametrize(
    "name",
    [
        "scene/../../outside-0123456789abcdef.o", "../x-0123456789abcdef.o", "/tmp/x-0123456789abcdef.o",
        "scene//x-0123456789abcdef.o", "scene/./x-0123456789abcdef.o", "scene/a/b-0123456789abcdef.o",
        "scene/x\\y-0123456789abcdef.o", "scene/x-0123456789abcdef.py", "scene/x-0123456789abcdef.o\n",
        "scene/x\0-0123456789abcdef.o", "scene/.ready", "scene/..ready", "scene/scene.ready/x", "greens/x.greens",
        "scene/C:x-0123456789abcdef.o", "linalg/x-0123456789abcdef.o", "scene/ü-0123456789abcdef.o", "",
        f"scene/{'x' * 300}-0123456789abcdef.o", "strand/../scene/x-0123456789abcdef.o",
    ],
)  # fmt: skip
def test_names_that_reach_elsewhere_are_refused(file: Path, name: str) -> None:
    told, _ = known(file)
    content = marked(b"evil")
    written(file, told | {"files": {name: [0, len(content)]}}, content)
    with pytest.raises(InputError, match="is no name of a compiled kernel"):
        unpack_cache(file)
    assert not files_below(file.parent / "here")


def test_places_that_overlap_or_leave_gaps_are_refused(file: Path) -> None:
    """A small file could become a huge one by naming the same bytes a thousand times."""
    told, code = known(file)
    places = dict(told["files"])
    first = min(places, key=lambda name: places[name])
    many = {f"scene/x{k}-0123456789abcdef.o": [0, len(code)] for k in range(1000)}
    cases = [
        many, places | {first: [1, places[first][1]]}, places | {first: [0, 10**30]}, places | {first: [-5, 3]},
        {name: place for name, place in places.items() if name != first}, places | {first: [0, 0]},
    ]  # fmt: skip
    for files in cases:
        written(file, told | {"files": files}, code)
        with pytest.raises(InputError, match="is refused"):
            unpack_cache(file)
    written(file, told, code + b"more")
    with pytest.raises(InputError, match="more in it than its files"):
        unpack_cache(file)
    assert not files_below(file.parent / "here")


def test_lists_that_are_none_are_refused(file: Path) -> None:
    told, code = known(file)
    cases: list[object] = [
        b"[" * 100_000, b"{", b"", b"\xff\xfe", [], {}, 3, None, told | {"more": 1}, told | {"files": []},
        told | {"files": {}}, told | {"stamps": {}}, told | {"stamps": []}, told | {"facts": {"numba": 3}},
        told | {"facts": {}}, told | {"files": {key: [0, 1.5] for key in told["files"]}},
        told | {"files": {key: [True, 1] for key in told["files"]}},
        told | {"files": dict.fromkeys(told["files"], "here")},
        b'{"files": ' + b"9" * 10_000 + b"}",
    ]  # fmt: skip
    for case in cases:
        written(file, case, code)
        with pytest.raises(InputError, match="is refused"):
            unpack_cache(file)
    assert not files_below(file.parent / "here")


def test_kernels_for_others_are_refused_with_what_differs(file: Path) -> None:
    told, code = known(file)
    for name, text in (
        ("platform", "it is for plan9"), ("python", "it is for Python plan9"), ("numba", "it is for Numba plan9"),
        ("mode", "SENNIT_KERNELS=plan9"), ("processor", "SENNIT_KERNELS_CPU="),
    ):  # fmt: skip
        written(file, told | {"facts": told["facts"] | {name: "plan9"}}, code)
        with pytest.raises(InputError, match=text):
            unpack_cache(file)
    for stamps, text in (
        (told["stamps"] | {"scene": "0" * 16}, r"other sources of sennit \(part scene\)"),
        (told["stamps"] | {"greens": "0" * 16}, "there is no part 'greens'"),
    ):
        written(file, told | {"stamps": stamps}, code)
        with pytest.raises(InputError, match=text):
            unpack_cache(file)
    assert not files_below(file.parent / "here")


def test_what_is_damaged_or_no_such_file_is_refused(file: Path) -> None:
    told, code = known(file)
    whole = file.read_bytes()
    for content, text in (
        (whole[:-1], "damaged"), (whole[:60], "damaged"), (b"", "was not written"), (b"PK\3\4", "was not written"),
        (TITLE, "damaged"), (whole.replace(b"machine", b"MACHINE"), "damaged"),
    ):  # fmt: skip
        file.write_bytes(content)
        with pytest.raises(InputError, match=text):
            unpack_cache(file)
    written(file, told, code.replace(b"machine", b"MACHINE"))
    with pytest.raises(InputError, match="march-0123456789abcdef.o' is damaged"):
        unpack_cache(file)
    with pytest.raises(InputError, match="there is no file"):
        unpack_cache(file.parent)
    with file.open("wb") as huge:
        huge.truncate((1 << 30) + 1)  # takes no room on the disk
    with pytest.raises(InputError, match="is larger than any"):
        unpack_cache(file)
    pipe = file.parent / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="there is no file"):
        unpack_cache(pipe)
    assert not files_below(file.parent / "here")


def test_the_commands(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["cache", "unpack", str(file)]) == 0
    assert "3 files of compiled kernels: " in capsys.readouterr().out
    again = file.with_name("again")
    assert cli.main(["cache", "pack", str(again)]) == 0
    assert again.read_bytes() == file.read_bytes()
    assert cli.main(["cache", "unpack", str(file.parent / "nothing")]) == 2
    assert "there is no file" in capsys.readouterr().err
    assert cli.main(["cache", "pack", str(file.parent / "no" / "folder")]) == 1
