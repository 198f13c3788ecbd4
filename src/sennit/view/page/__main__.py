"""``python -m sennit.view.page``: started by `sennit.view`, with which it talks over its standard input and output."""

from __future__ import annotations

import os
import signal
import sys
import time

from sennit.live.channel import clear_away
from sennit.live.wire import Wire


def main() -> int:
    """Serve a page until the simulation says goodbye or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the simulation, which then says goodbye
    reader, writer = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # Whatever a library prints must not get between the messages.
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)
    wire = Wire(reader, writer)
    try:
        hello = wire.receive(30.0)
    except EOFError:
        return 0
    if hello is None or hello[0].get("say") != "hello":
        print("sennit.view.page is started by sennit.view; it is not a command", file=sys.stderr)
        return 2
    simulation = os.getppid()
    try:
        _serve(wire, str(hello[0]["address"]), int(hello[0]["port"]), str(hello[0]["title"]))
    except EOFError:  # the simulation has gone without a goodbye; a dying process closes its files first
        for _ in range(20):
            if os.getppid() != simulation:
                clear_away(simulation)
                break
            time.sleep(0.05)
    return 0


def _serve(wire: Wire, address: str, port: int, title: str) -> None:
    from sennit.view.page.app import App

    App(wire, address, port, title).run()


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)  # threads of the server may still wind down; nobody waits for them
