"""Which messages of browsers are let through to viser.

Viser takes whatever a client sends: any attribute of a widget can be set, to a value of any kind, and the place of a
camera can be two numbers. What its own client never sends is dropped here, before it does harm to everybody else.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from viser import ViserServer

__all__ = ["camera_is_sound", "pose_is_sound", "screen", "update_is_sound"]

FARTHEST = 1e9
"""As drawn: no number of a place is larger."""
WIDEST = 1e5
"""Pixels of a window's side, at most."""


def screen(server: ViserServer) -> None:
    """Have `server` drop messages that its own pages do not send."""
    from viser import _messages

    handles = server.gui._gui_input_handle_from_uuid
    checks: dict[type, Callable[[Any], bool]] = {
        _messages.GuiUpdateMessage: lambda m: isinstance(m.uuid, str) and update_is_sound(handles.get(m.uuid), m),
        _messages.ViewerCameraMessage: camera_is_sound,
        _messages.TransformControlsUpdateMessage: pose_is_sound,
    }

    def guard(receiver: Any) -> None:
        plain = receiver._handle_incoming_message

        async def checked(client_id: Any, message: Any) -> None:
            check = checks.get(type(message))
            if check is None or check(message):
                await plain(client_id, message)

        receiver._handle_incoming_message = checked

    guard(server._websock_server)
    # Each connection has handlers of its own, that of the camera among them.
    server._websock_server.on_client_connect(guard)


def update_is_sound(handle: Any, message: Any) -> bool:
    """Whether a message sets the value of the widget `handle`, and to one that it can have. Limits are not looked at:
    who gets the value has to.
    """
    if handle is None or not isinstance(message.updates, dict) or message.updates.keys() != {"value"}:
        return False
    value, now = message.updates["value"], handle._impl.value
    options = getattr(handle._impl.props, "options", None)
    if options is not None:
        return isinstance(value, str) and value in options
    if isinstance(now, bool | str):
        return type(value) is type(now)
    if isinstance(now, int | float):
        return _is_number(value)
    if isinstance(now, tuple):
        return _are_numbers(value, len(now))
    return False


def camera_is_sound(message: Any) -> bool:
    """Whether a message places a camera in a window that can be seen."""
    return (
        pose_is_sound(message)
        and _are_numbers(message.look_at, 3)
        and _are_numbers(message.up_direction, 3)
        and all(_is_number(side) and 1.0 <= side <= WIDEST for side in (message.image_width, message.image_height))
        and all(_is_number(number) for number in (message.fov, message.near, message.far))
        and 0.0 < message.fov < math.pi
    )


def pose_is_sound(message: Any) -> bool:
    """Whether the position and the quaternion of a message are ones."""
    return (
        _are_numbers(message.position, 3)
        and _are_numbers(message.wxyz, 4)
        and 0.5 < math.hypot(*message.wxyz) < 2.0  # rounded by the browser
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _are_numbers(values: Any, count: int) -> bool:
    return (
        isinstance(values, list | tuple)
        and len(values) == count
        and all(_is_number(value) and abs(value) <= FARTHEST for value in values)
    )
