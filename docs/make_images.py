"""Makes the pictures in ``docs/images`` anew: ``uv run python docs/make_images.py``."""

from __future__ import annotations

from pathlib import Path

from sennit.demos.painting import write_picture
from sennit.demos.suture import FPS, check, drag, draw, thread

IMAGES = Path(__file__).parent / "images"


def main() -> None:
    """Run the suture demo once; write its film, and six of its frames for the README."""
    run = drag(thread(), frames=5 * FPS, seconds=5.0)
    wrong = check(run)
    if wrong:
        raise SystemExit("; ".join(wrong))
    IMAGES.mkdir(exist_ok=True)
    just_snapped = run.snaps[0] // run.step + 1
    chosen = [0, 27, 47, 64, 92, just_snapped + 1]
    write_picture(IMAGES / "suture.png", draw(run, chosen, (396, 300), charts=False), FPS)
    write_picture(IMAGES / "suture.gif", draw(run, list(range(5 * FPS)), (480, 420), charts=True), FPS)


if __name__ == "__main__":
    main()
