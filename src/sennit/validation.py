"""Turns what users pass into checked float64 values, copied and finite, or says what was wrong with them.

Every function takes the argument's name first and raises `InputError` with a message that names the argument, quotes
the value and says what is allowed. Booleans, complex numbers, strings, NaN and infinity are refused everywhere.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import numbers
import operator
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from sennit.errors import InputError

__all__ = [
    "FloatArray",
    "array",
    "choice",
    "chosen",
    "colour",
    "count",
    "direction",
    "entries",
    "flag",
    "in_range",
    "infinite",
    "label",
    "listed",
    "number",
    "quaternion",
    "quoted",
    "rotation_matrix",
    "vector",
]

Kind = TypeVar("Kind")
FloatArray: TypeAlias = NDArray[np.float64]
"""An array of float64; functions say its shape and unit."""

_PLAIN = (float, int)
_LONGEST_QUOTE = 80
_LONGEST_PATH = 240
_LONGEST_LABEL = 200
_LONGEST_LIST = 1 << 20
_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Characters that end a line, steer a terminal or can't be written to a file."""
_ORTHOGONALITY_TOLERANCE = 1e-6
_MOST = 1 << 24
"""A count without a bound of its own is no larger: what is counted is computed or kept one by one."""


def quoted(value: object) -> str:
    """`value` as error messages show it: on one line, shortened, without NumPy's type names."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.size <= 16):
        value = value.tolist()
    try:
        text = " ".join(repr(value).split())
    except Exception:  # the text is the user's to make; what was wrong with the value is ours to say
        text = f"<{type(value).__name__} whose repr fails>"
    return text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 3] + "..."


def quoted_path(path: object) -> str:
    """A file's place as error messages show it: whole, or the end of a very long one, which has its name."""
    text = repr(str(path))
    return text if len(text) <= _LONGEST_PATH else f"'...{text[4 - _LONGEST_PATH :]}"


def number(
    name: str,
    value: object,
    *,
    positive: bool = False,
    minimum: float | None = None,
    maximum: float | None = None,
    above: float | None = None,
    below: float | None = None,
) -> float:
    """`value` as a finite float within its bounds.

    `positive` means above 0; `minimum` and `maximum` are allowed themselves, `above` and `below` are not.
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    # `type(...) in` spares the common case the slow look-up of an abstract class.
    if type(value) in _PLAIN or (type(value) is not bool and isinstance(value, numbers.Real)):
        try:
            result = float(value)  # type: ignore[arg-type]
        except OverflowError:
            result = math.inf
        except (TypeError, ValueError):  # NumPy's time spans count as whole numbers
            result = math.nan
    else:
        result = math.nan
    if (
        math.isfinite(result)
        and (not positive or result > 0.0)
        and (minimum is None or result >= minimum)
        and (maximum is None or result <= maximum)
        and (above is None or result > above)
        and (below is None or result < below)
    ):
        return result
    raise InputError(_number_message(name, value, positive, minimum, maximum, above, below))


def _number_message(
    name: str,
    value: object,
    positive: bool,
    minimum: float | None,
    maximum: float | None,
    above: float | None,
    below: float | None,
) -> str:
    bounds = [
        *(["above 0"] if positive else []),
        *([f"above {above:g}"] if above is not None else []),
        *([f"at least {minimum:g}"] if minimum is not None else []),
        *([f"below {below:g}"] if below is not None else []),
        *([f"at most {maximum:g}"] if maximum is not None else []),
    ]
    limits = " " + " and ".join(bounds) if bounds else ""
    return f"{name} must be a finite number{limits}, got {quoted(value)}"


UNLIMITED = 1 << 62
"""The largest of counts that nothing is made or kept for, such as a limit of iterations."""


def count(
    name: str, value: object, minimum: int = 0, maximum: int | None = None, *, odd: bool = False, why: str = ""
) -> int:
    """`value` as a whole number from `minimum` to `maximum`, both allowed; an odd one if `odd`.

    `why` ends the message: the reason for a bound or for oddness, such as ``"(order=4 pairs the elements)"``.
    """
    reason = f" {why}" if why else ""
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        result = operator.index(value)  # type: ignore[arg-type]
    except Exception:  # whatever the value's own methods raise
        result = minimum - 1
    if maximum is None and result > _MOST:
        maximum = _MOST
    if result < minimum or (maximum is not None and result > maximum):
        limits = f"of at least {minimum}" if maximum is None else f"from {minimum} to {maximum}"
        parity = "an odd" if odd else "a"
        raise InputError(f"{name} must be {parity} whole number {limits}{reason}, got {quoted(value)}")
    if odd and result % 2 == 0:
        raise InputError(f"{name} must be odd{reason}, got {quoted(value)}: the next is {result + 1}")
    return result


@contextlib.contextmanager
def in_range(what: str) -> Iterator[None]:
    """Turns what overflows in the body into an `InputError`: `what` is too large or too small to reckon with."""
    try:
        with np.errstate(over="raise", divide="raise", invalid="raise"):
            yield
    except (FloatingPointError, OverflowError, ZeroDivisionError, np.linalg.LinAlgError):
        raise InputError(f"{what} are too large or too small: their products leave the range of numbers") from None


def flag(name: str, value: object) -> bool:
    """`value` as a bool: True or False, or NumPy's; nothing else counts as true or false."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise InputError(f"{name} must be True or False, got {quoted(value)}")


def label(name: str, value: object) -> str | None:
    """`value` as the name that a user gives to something, or None: a text of one line, at most 200 characters."""
    if value is None:
        return None
    if isinstance(value, str) and value.strip() and len(value) <= _LONGEST_LABEL and not _BREAKS.search(value):
        return str(value)
    raise InputError(f"{name} must be a text of one line and 1 to {_LONGEST_LABEL} characters, got {quoted(value)}")


def choice(name: str, value: object, allowed: tuple[str, ...]) -> str:
    """`value` as one of the texts that are `allowed`."""
    if isinstance(value, str) and value in allowed:
        return str(value)
    texts = ", ".join(f'"{text}"' for text in allowed[:-1]) + f' or "{allowed[-1]}"'
    raise InputError(f"{name} must be {texts}, got {quoted(value)}")


def instance(name: str, value: object, kind: type[Kind], what: str) -> Kind:
    """`value` as an instance of `kind`, which `what` describes."""
    if not isinstance(value, kind):
        raise InputError(f"{name} must be {what}, got {quoted(value)}")
    return value


def listed(name: str, value: object, allowed: tuple[type, ...], what: str) -> list[Any]:
    """`value`, an iterable, as a list of instances of `allowed`, which `what` describes; it ends at the first other."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise InputError(f"{name} must be a list of {what}, got {quoted(value)}")
    result: list[Any] = []
    try:
        for entry in value:
            if not isinstance(entry, allowed):
                raise InputError(f"{name} must be a list of {what}, got {quoted(entry)} in it")
            result.append(entry)
    except InputError:
        raise
    except Exception:  # whatever the iterable's own methods raise
        raise InputError(f"{name} must be a list of {what}, got {quoted(value)}") from None
    return result


def entries(name: str, value: object, what: str) -> list[Any]:
    """What the iterable `value` holds; one that does not end is refused, as is what can't be iterated over."""
    try:
        if isinstance(value, Iterable):
            found = list(itertools.islice(value, _LONGEST_LIST + 1))
            if len(found) <= _LONGEST_LIST:
                return found
    except Exception:  # whatever the iterable's own methods raise
        pass
    raise InputError(f"{name} must be {what}, got {quoted(value)}")


def infinite(value: object) -> bool:
    """Whether `value` is plus infinity, as a float of Python's or NumPy's."""
    return isinstance(value, float | np.floating) and value == math.inf


def array(name: str, value: object, *shapes: tuple[int | None, ...]) -> FloatArray:
    """`value` as a new float64 array of finite numbers that has one of `shapes`; None stands for any length."""
    if type(value) is np.ndarray and value.dtype == np.float64:
        given = value
    else:
        try:
            given = np.asarray(value)
        except Exception:  # whatever the value's own methods raise
            raise InputError(f"{name} must be an array {_shape_rule(shapes)}, got {quoted(value)}") from None
        if given.dtype.kind not in "iuf" or _holds_booleans(value):
            raise InputError(f"{name} must be an array of real numbers {_shape_rule(shapes)}, got {quoted(value)}")
    if not any(_fits(given.shape, shape) for shape in shapes):
        raise InputError(
            f"{name} must be an array {_shape_rule(shapes)}, got {quoted(value)} of shape {_written(given.shape)}"
        )
    result = np.array(given, dtype=np.float64, order="C")
    finite = np.isfinite(result)
    if not finite.all():
        if result.size <= 16:
            raise InputError(f"{name} must hold finite numbers only, got {quoted(result)}")
        first = tuple(int(index) for index in np.argwhere(~finite)[0])
        place = ", ".join(map(str, first))
        raise InputError(f"{name} must hold finite numbers only, got {name}[{place}] = {quoted(result[first])}")
    return result


def _fits(shape: tuple[int, ...], allowed: tuple[int | None, ...]) -> bool:
    return len(shape) == len(allowed) and all(
        want is None or have == want for have, want in zip(shape, allowed, strict=True)
    )


def _written(shape: tuple[int | None, ...]) -> str:
    entries = ["n" if length is None else str(length) for length in shape]
    return f"({entries[0]},)" if len(entries) == 1 else f"({', '.join(entries)})"


def _shape_rule(shapes: tuple[tuple[int | None, ...], ...]) -> str:
    return "of shape " + " or ".join(_written(shape) for shape in shapes)


def _holds_booleans(value: object) -> bool:
    """Whether a nested sequence hides booleans that NumPy would turn into numbers."""
    if isinstance(value, list | tuple):
        return any(_holds_booleans(entry) for entry in value)
    if isinstance(value, np.ndarray):
        return bool(value.dtype.kind == "b")
    return isinstance(value, bool | np.bool_)


def vector(name: str, value: object) -> FloatArray:
    """`value` as a new (3,) array of finite numbers."""
    return _short(name, value, 3)


def _short(name: str, value: object, length: int) -> FloatArray:
    """What `array` does for the shape (length,), faster where `value` is what it should be."""
    try:
        if type(value) is np.ndarray:
            if value.dtype == np.float64 and value.shape == (length,) and all(map(math.isfinite, value.tolist())):
                return value.copy()
        elif (
            (type(value) is tuple or type(value) is list)
            and len(value) == length
            and all(type(entry) in _PLAIN and math.isfinite(entry) for entry in value)
        ):
            return np.array(value, dtype=np.float64)
    except OverflowError:  # a whole number beyond the range of floats, which `array` refuses
        pass
    return array(name, value, (length,))


def colour(name: str, value: object) -> tuple[int, int, int]:
    """`value` as (red, green, blue), whole numbers from 0 to 255."""
    numbers = array(name, value, (3,))
    if not ((numbers >= 0.0) & (numbers <= 255.0)).all():
        raise InputError(f"{name} must be red, green, blue from 0 to 255, got {quoted(value)}")
    red, green, blue = (round(x) for x in numbers.tolist())
    return red, green, blue


def direction(name: str, value: object) -> FloatArray:
    """`value`, a vector of any length but zero, as a new (3,) unit vector."""
    result = vector(name, value)
    if not _normalise(result):
        raise InputError(f"{name} must be a vector that is not zero, got {quoted(value)}")
    return result


def quaternion(name: str, value: object) -> FloatArray:
    """`value`, a quaternion (w, x, y, z) of any norm but zero, as a new (4,) unit quaternion.

    A quaternion of unit norm keeps its every bit, so that what was checked once can be checked again unchanged.
    """
    result = _short(name, value, 4)
    if not _normalise(result):
        raise InputError(f"{name} must be a quaternion (w, x, y, z) that is not zero, got {quoted(value)}")
    return result


def _normalise(values: FloatArray) -> bool:
    """Scale `values` to unit norm in place, whatever their magnitude; False, and nothing done, if they are zero."""
    entries = values.tolist()
    norm = math.hypot(*entries)
    if not 1e-150 < norm < 1e150:
        largest = max(map(abs, entries))
        if largest == 0.0:
            return False
        values /= largest
        norm = math.hypot(*values.tolist())
    if abs(norm - 1.0) > 4e-16:
        values /= norm
    return True


def rotation_matrix(name: str, value: object) -> FloatArray:
    """`value` as a new (3, 3) rotation matrix, made orthogonal to rounding.

    Refused when an entry of RᵀR − 1 exceeds 1e-6, or when the determinant is −1 (a reflection).
    """
    result = array(name, value, (3, 3))
    identity = np.eye(3)
    with np.errstate(over="ignore", invalid="ignore"):
        defect = float(np.abs(result.T @ result - identity).max())
    if not defect <= _ORTHOGONALITY_TOLERANCE:
        raise InputError(
            f"{name} must be a rotation matrix: |RᵀR − 1| may be {_ORTHOGONALITY_TOLERANCE:g} at most and is "
            f"{defect:.3g}, got {quoted(result)}"
        )
    if np.linalg.det(result) < 0.0:
        raise InputError(f"{name} must be a rotation matrix: this one is a reflection (det −1), got {quoted(result)}")
    # Newton's iteration for the polar factor: each turn squares the defect, two suffice from 1e-6.
    for _ in range(2):
        if defect > 4e-16:
            result = 1.5 * result - 0.5 * result @ (result.T @ result)
            defect = float(np.abs(result.T @ result - identity).max())
    return result


def chosen(mask: object, count: int, things: str) -> NDArray[np.int64]:
    """Numbers of the `things`, of which there are `count`, that booleans (count,) or an array of numbers choose; None:
    all. Each once, in order.
    """
    if mask is None:
        return np.arange(count)
    try:
        given = np.asarray(mask)
    except Exception:  # whatever a list that is none, or a value's own methods, raise
        given = np.asarray(0.5)
    if given.dtype == bool and given.shape == (count,):
        return np.flatnonzero(given)
    whole = given.dtype.kind in "iu" or given.size == 0
    if whole and given.ndim == 1 and (given.size == 0 or (0 <= given.min() and given.max() < count)):
        return np.unique(given).astype(np.int64)
    raise InputError(
        f"mask must be booleans ({count},) or numbers of {things} from 0 to {count - 1}, got {quoted(mask)}"
    )
