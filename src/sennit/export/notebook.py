"""What notebooks show of scenes and recordings: a still with a line of facts, and a player below the cell."""

from __future__ import annotations

import base64
import html
import importlib.util
import io
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from sennit.export.recording import Recording, still_of
from sennit.export.replay import write_replay
from sennit.scene.scene import Scene

__all__ = ["facts_of", "player_html", "scene_html"]

SIZE = (640, 420)  # pixels, of stills; those of a player's frame are the height and as wide as there is room
MOST_PARTS = 2000
"""Parts of a still: painting more of them would keep a notebook waiting for seconds."""


def scene_html(scene: Scene) -> str:
    """A picture of `scene` as it is, where Pillow is installed, over a line that says what it holds."""
    facts = f"<p>{html.escape(facts_of(scene))}</p>"
    if not scene.bodies and not scene.obstacles and not scene.decor:
        return facts
    if importlib.util.find_spec("PIL") is None:
        return f"{facts}<p>A picture needs <code>pip install 'sennit[export]'</code>.</p>"
    recording = still_of(scene)
    if len(recording.cast.parts) > MOST_PARTS:
        return facts
    from sennit.export.film import Painter

    file = io.BytesIO()
    Painter(recording, SIZE, captions=False).picture(0).save(file, format="JPEG", quality=88)
    picture = base64.b64encode(file.getvalue()).decode()
    name = html.escape(scene.name or "A scene", quote=True)
    return (
        f'<img alt="{name}" width="{SIZE[0]}" height="{SIZE[1]}" style="max-width: 100%; height: auto" '
        f'src="data:image/jpeg;base64,{picture}">{facts}'
    )


def facts_of(scene: Scene) -> str:
    """What is in `scene`, in a line: its name and time, and how many of what."""
    things = [*scene.bodies, *scene.constraints, *scene.loads, *scene.obstacles]
    counts = Counter(type(thing).__name__ for thing in things)
    held = ", ".join(name if n == 1 else f"{n} × {name}" for name, n in counts.items()) or "nothing in it yet"
    return f"{scene.name or 'Scene'} at {scene.time:.6g} s: {held}"


def player_html(recording: Recording) -> str:
    """A player of `recording` in a frame of its own: it is whole in the notebook's file, and fetches nothing."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "film.html")
        write_replay(recording, path)
        page = path.read_text(encoding="utf-8")
    seconds = float(np.ptp(recording.times))
    label = html.escape(f"{recording.title}, {seconds:.3g} s", quote=True)
    return (
        f'<iframe title="{label}" srcdoc="{html.escape(page, quote=True)}" sandbox="allow-scripts" '
        f'style="width: 100%; height: {SIZE[1]}px; border: 0; border-radius: 6px"></iframe>'
    )
