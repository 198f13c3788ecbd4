"""A function of PTX, statement by statement, in LLVM's language: registers, memory, operands (see `references.ptx`)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_WIDTH = re.compile(r"^[busf](8|16|32|64)$")


def bits_of(kind: str) -> int:
    found = _WIDTH.match(kind)
    if kind == "pred":
        return 1
    if found is None:
        raise NotImplementedError(f"type {kind}")
    return int(found.group(1))


def form_of(kind: str) -> str:
    """LLVM's type of a type of PTX's."""
    return {"f32": "float", "f64": "double"}.get(kind, f"i{bits_of(kind)}")


@dataclass
class Function:
    name: str
    is_entry: bool
    result: bool
    parameters: list[str]
    lines: list[str] = field(default_factory=list)


class Body:
    """One function, statement by statement."""

    def __init__(self, function: Function, functions: dict[str, Function], fuse: bool) -> None:
        self.function, self.functions, self.fuse = function, functions, fuse
        self.kinds: dict[str, str] = {}
        """Registers and their types in LLVM."""
        self.places: dict[str, str] = {}
        """Memory by name: parameters, what calls are given, a thread's own."""
        self.begin: list[str] = ["%carry = alloca i1"]
        self.made: list[str] = []
        self.count = 0
        self.opened, self.scopes = 0, [0]
        """Braces so far, and those that are open."""
        self.targets: dict[str, list[str]] = {}
        self.products: dict[str, tuple[str, str]] = {}
        """Registers that are products without a rounding of their own, and of what."""

    # ------------------------------------------------------------------------------------------------- bookkeeping

    def text(self) -> str:
        own, given = self.function, []
        for k, name in enumerate(own.parameters):
            self.places[name] = f"%given{k}"
            given.append(f"ptr %given{k}")
        if own.result:
            self.places["func_retval0"] = "%result"
            given.insert(0, "ptr %result")
        written = {}
        for line in own.lines:
            for name in re.findall(r"^(?:@!?%p\d+ )?\w[\w.]* (%\w+)", line):
                written[name] = written.get(name, 0) + 1
        self.once = {name for name, count in written.items() if count == 1}
        self._declare()
        for line in own.lines:
            self._statement(line)
        self.made.append("ret void")
        name = f"{own.name}..inner" if own.is_entry else own.name
        lines = *self.begin, "br label %go", "go:", *self.made
        body = "\n".join(line if line.endswith(":") else f"  {line}" for line in lines)
        text = f'define internal void @"{name}"({", ".join(given)}) {{\n{body}\n}}'
        return text + self._entry(name) if own.is_entry else text

    def _entry(self, inner: str) -> str:
        """What is called with a thread's number and words."""
        words = [f"i64 %w{k}" for k in range(len(self.function.parameters))]
        lines = ["%number = trunc i64 %thread to i32", "store i32 %number, ptr @sennit_thread_of_ptx"]
        for k in range(len(words)):
            lines += [f"%m{k} = alloca i64", f"store i64 %w{k}, ptr %m{k}"]
        lines.append(f'call void @"{inner}"({", ".join(f"ptr %m{k}" for k in range(len(words)))})')
        body = "\n  ".join((*lines, "ret void"))
        return f'\ndefine void @"{self.function.name}"({", ".join(["i64 %thread", *words])}) {{\n  {body}\n}}'

    def _declare(self) -> None:
        scope, number = [0], 0
        for line in self.function.lines:
            if line == "{":
                number += 1
                scope.append(number)
            elif line == "}":
                scope.pop()
            elif found := re.match(r"\.reg \.(\w+) (.*)$", line):
                kind = f"i{bits_of(found.group(1))}"
                for part in found.group(2).split(","):
                    name = part.strip()
                    if many := re.match(r"(%\w+)<(\d+)>", name):
                        for i in range(int(many.group(2))):
                            self._register(f"{many.group(1)}{i}", kind)
                    else:
                        self._register(name if scope[-1] == 0 or name.startswith("%") else f"{name}.{scope[-1]}", kind)

    def _register(self, name: str, kind: str) -> None:
        if name not in self.kinds:
            self.kinds[name] = kind
            self.begin.append(f'%"r{name}" = alloca {kind}')

    def _new(self, text: str) -> str:
        self.count += 1
        self.made.append(f"%t{self.count} = {text}")
        return f"%t{self.count}"

    def _end(self, text: str) -> None:
        """End a block, and begin one that nobody goes to, unless a label follows."""
        self.count += 1
        self.made += [text, f"dead{self.count}:"]

    # --------------------------------------------------------------------------------------------------- operands

    def _scoped(self, name: str) -> str:
        return next((own for k in reversed(self.scopes) if (own := f"{name}.{k}") in self.kinds), name)

    def _as(self, value: str, have: str, want: str) -> str:
        """A value of one form as one of another, bit by bit."""
        if have == want:
            return value
        if want in ("float", "double") or have in ("float", "double"):
            size = {"float": "i32", "double": "i64"}
            value, have = (
                (self._new(f"bitcast {have} {value} to {size[have]}"), size[have]) if have in size else (value, have)
            )
            middle = size.get(want, want)
            value = self._as(value, have, middle)
            return self._new(f"bitcast {middle} {value} to {want}") if want in size else value
        return self._new(f"{'trunc' if int(have[1:]) > int(want[1:]) else 'zext'} {have} {value} to {want}")

    def read(self, operand: str, form: str) -> str:
        """An operand's value."""
        operand = operand.strip()
        if operand.startswith("0d"):
            return self._as(str(int(operand[2:], 16)), "i64", form)
        if operand.startswith("0f"):
            return self._as(str(int(operand[2:], 16)), "i32", form)
        if re.match(r"^-?(0x[0-9A-Fa-f]+|\d+)U?$", operand):
            number = int(operand.rstrip("U"), 0)
            if form in ("float", "double"):
                return self._as(str(number), {"float": "i32", "double": "i64"}[form], form)
            return str(number & ((1 << int(form[1:])) - 1)) if form != "i1" else ("true" if number else "false")
        special = {"%tid.x": "0", "%ntid.x": "1"}
        if operand in special:
            return special[operand]
        if operand == "%ctaid.x":
            return self._new("load i32, ptr @sennit_thread_of_ptx")
        if operand.startswith("-"):
            raise NotImplementedError(operand)
        name = self._scoped(operand)
        if name in self.kinds:
            kind = self.kinds[name]
            return self._as(self._new(f'load {kind}, ptr %"r{name}"'), kind, form)
        if operand in self.places:
            return self._new(f"ptrtoint ptr {self.places[operand]} to i64")
        return self._new(f'ptrtoint ptr @"{operand}" to i64')

    def write(self, register: str, value: str, form: str, signed: bool = False) -> None:
        """Set a register."""
        name = self._scoped(register.strip())
        if name == "_":
            return
        kind = self.kinds[name]
        if signed and form[0] == "i" and int(kind[1:]) > int(form[1:]):
            value, form = self._new(f"sext {form} {value} to {kind}"), kind
        self.made.append(f'store {kind} {self._as(value, form, kind)}, ptr %"r{name}"')

    def _address(self, operand: str) -> str:
        found = re.match(r"^\[([^+\]]+?)(?:\+(-?\d+))?\]$", operand.strip())
        if found is None:
            raise NotImplementedError(operand)
        name, offset = found.group(1), found.group(2) or "0"
        if self._scoped(name) not in self.kinds and name in self.places:
            return self._new(f"getelementptr i8, ptr {self.places[name]}, i64 {offset}")
        begin = self.read(name, "i64")
        return self._new(f"inttoptr i64 {self._new(f'add i64 {begin}, {offset}')} to ptr")

    # -------------------------------------------------------------------------------------------------- statements

    def _statement(self, line: str) -> None:
        if line == "{":
            self.opened += 1
            self.scopes.append(self.opened)
        elif line == "}":
            self.scopes.pop()
        elif line.endswith(":"):
            self.made += [f'br label %"{line[:-1]}"', f'"{line[:-1]}":']
        elif line.startswith((".reg", ".pragma", ".loc ")):
            pass
        elif line.startswith((".param", ".local")):
            self._memory(line)
        elif found := re.match(r"^(\S+): \.branchtargets (.*)$", line):
            self.targets[found.group(1)] = [name.strip() for name in found.group(2).split(",")]
        elif line.startswith(".branchtargets"):
            # its label stood alone: take back the block that it began
            label = self.made.pop()[1:-2]
            self.made.pop()
            self.targets[label] = [name.strip() for name in line.split(" ", 1)[1].split(",")]
        else:
            self._instruction(line)

    def _memory(self, line: str) -> None:
        found = re.match(r"\.(?:param|local)(?: \.align (\d+))? \.(\w+) ([\w.$]+)(?:\[(\d+)\])?", line)
        if found is None:
            raise NotImplementedError(line)
        align, kind, name, count = found.groups()
        self.count += 1
        place = f"%m{self.count}"
        size = int(count or 1) * max(bits_of(kind) // 8, 1)
        self.begin.append(f"{place} = alloca [{size} x i8], align {max(int(align or 8), 8)}")
        self.places[name] = place

    def _instruction(self, line: str) -> None:
        guard = re.match(r"^@(!?)(%\w+) (.*)$", line)
        if guard is not None:
            negated, register, rest = guard.groups()
            condition = self.read(register, "i1")
            self.count += 1
            then, after = f"then{self.count}", f"after{self.count}"
            ways = (after, then) if negated else (then, after)
            self.made += [f"br i1 {condition}, label %{ways[0]}, label %{ways[1]}", f"{then}:"]
            self._instruction(rest)
            self.made += [f"br label %{after}", f"{after}:"]
            return
        name, _, rest = line.partition(" ")
        parts = name.split(".")
        operands = [part.strip() for part in re.split(r",(?![^<(\[]*[>)\]])", rest)] if rest else []
        try:
            self.act(parts[0], parts[1:], operands)
        except (KeyError, IndexError, ValueError) as problem:
            raise NotImplementedError(f"{line}: {problem!r}") from problem

    def act(self, name: str, parts: list[str], operands: list[str]) -> None:
        """Do what an instruction does; raises `KeyError` for one that is not known."""
        raise KeyError(name)
