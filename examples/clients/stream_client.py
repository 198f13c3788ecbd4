"""A program without sennit that follows a simulation and steers it: ``python stream_client.py ws://…/stream``.

``sennit serve my_scene.py`` prints the address. All that it needs is ``pip install websockets``; any language that has
WebSockets and JSON can do the same.
"""

import json
import sys

from websockets.sync.client import connect


def frames(socket, count):
    """Yield `count` frames, one at a time: the next one is made when it is asked for."""
    while count > 0:
        socket.send(json.dumps({"do": "next"}))
        while True:
            said = json.loads(socket.recv(timeout=10))
            if said["say"] == "frame":
                yield said
                count -= 1
                break
            if said["say"] == "cast":
                print(f"{said['title']}: {', '.join(part['name'] for part in said['parts'])}")
                print("it can be set:", ", ".join(control["name"] for control in said["controls"]) or "nothing")
            elif said["say"] == "note":  # what could not be done, and why
                print(f"{said['level']}: {said['text']}", file=sys.stderr)
            elif said["say"] == "bye":
                return


def main(address, command=None):
    """Print where everything is in ten frames; `command`, JSON, is sent first, say {"do": "pause"}."""
    with connect(address) as socket:
        for k, frame in enumerate(frames(socket, 10)):
            if k == 0 and command is not None:
                socket.send(command)
            places = {name: part.get("position") or part["centres"][-1] for name, part in frame["parts"].items()
                      if "position" in part or "centres" in part}  # fmt: skip
            told = ", ".join(f"{name} ({x:.3f}, {y:.3f}, {z:.3f})" for name, (x, y, z) in places.items())
            print(f"{frame['time']:8.3f} s  {told}  {frame['watches']}")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
