"""PTX on this processor: the language that a graphics card's driver is given, translated to LLVM's, a thread at a time.

What is between LLVM's own form of a program and a card (selection of instructions, fused multiply-adds, calls and
memories of threads) is run so, too, where there is no card. What only the driver's assembler decides is not: it may
fuse a product and a sum that PTX leaves apart (`mul.f64`, `add.f64` without a rounding); with ``fuse=True`` all of
those that it might are. Approximate instructions of the card are exact here.

Meant for what LLVM writes; anything else raises `NotImplementedError` with its line.
"""

from __future__ import annotations

import re

import llvmlite.binding as llvm

from references.ptx_body import Body, Function, bits_of, form_of
from sennit.whole_program import native_machine

_ORDERED = {"eq": "oeq", "ne": "one", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "num": "ord"}
_UNORDERED = {"equ": "ueq", "neu": "une", "ltu": "ult", "leu": "ule", "gtu": "ugt", "geu": "uge", "nan": "uno"}
_ROUNDS = {"rni": "roundeven", "rmi": "floor", "rpi": "ceil", "rzi": "trunc"}
_CALLED = {"fma": "fma", "sqrt": "sqrt", "ex2": "exp2", "lg2": "log2", "sin": "sin", "cos": "cos"}


def translated(text: str, fuse: bool = False) -> str:
    """A program of PTX as one of LLVM's: its entries take the number of the thread, and their words."""
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"\b_?\w*\$\w*\b", lambda found: found.group(0).replace("$", ".."), text)
    head, functions = _parts(text)
    made = ["@sennit_thread_of_ptx = internal global i32 0"]
    made += [_global(line) for line in head if line]
    for function in functions:
        made.append(_Instructions(function, {f.name: f for f in functions}, fuse).text())
    intrinsics = [
        f"declare {t} @llvm.{name}.{s}({', '.join([t] * count)})"
        for t, s in (("double", "f64"), ("float", "f32"))
        for name, count in (("fma", 3), ("sqrt", 1), ("fabs", 1), ("minnum", 2), ("maxnum", 2), ("copysign", 2),
                            ("floor", 1), ("ceil", 1), ("trunc", 1), ("roundeven", 1), ("exp2", 1), ("log2", 1),
                            ("sin", 1), ("cos", 1))
    ]  # fmt: skip
    intrinsics += [
        f"declare i{n} @llvm.fpto{sign}i.sat.i{n}.{s}({t})"
        for t, s in (("double", "f64"), ("float", "f32")) for n in (16, 32, 64) for sign in "su"
    ]  # fmt: skip
    for n in (32, 64):
        intrinsics += [f"declare i{n} @llvm.{name}.i{n}(i{n}, i1)" for name in ("ctlz", "abs")]
        intrinsics += [f"declare i{n} @llvm.{name}.i{n}(i{n})" for name in ("ctpop", "bitreverse")]
        intrinsics += [f"declare i{n} @llvm.{name}.i{n}(i{n}, i{n})" for name in ("smin", "smax", "umin", "umax")]
    return "\n".join([*made, *intrinsics])


def machine_code(text: str, end: str, fuse: bool = False) -> bytes:
    """An object file of this processor, with `end` after the names of its entries."""
    machine = native_machine()
    entries = [own.name for own in _parts(re.sub(r"//[^\n]*", "", text))[1] if own.is_entry]
    for name in entries:
        text = re.sub(rf"\b{re.escape(name)}\b", f"{name}{end}", text)
    module = llvm.parse_assembly(translated(text, fuse))
    module.triple, module.data_layout = llvm.get_process_triple(), str(machine.target_data)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(1))
    builder.getModulePassManager().run(module, builder)
    return bytes(machine.emit_object(module))


def _parts(text: str) -> tuple[list[str], list[Function]]:
    """Lines outside of functions, and the functions."""
    found = []
    pattern = re.compile(
        r"^(?:\.visible |\.weak )?\.(entry|func)\s+(\([^)]*\)\s*)?([\w.$]+)\s*\(([^)]*)\)([^{;]*)([{;])", re.M
    )
    at, head = 0, []
    while (begin := pattern.search(text, at)) is not None:
        head += text[at : begin.start()].split("\n")
        if begin.group(6) == ";":
            at = begin.end()
            continue
        depth, end = 1, begin.end()
        while depth:
            step = re.compile(r"[{}]").search(text, end)
            assert step is not None
            depth += 1 if step.group(0) == "{" else -1
            end = step.end()
        names = [part.split()[-1].split("[")[0] for part in begin.group(4).split(",") if part.strip()]
        own = Function(begin.group(3), begin.group(1) == "entry", bool(begin.group(2)), names)
        own.lines = _statements(text[begin.end() : end - 1])
        found.append(own)
        at = end
    head += text[at:].split("\n")
    kept = [line.strip() for line in head if line.strip().startswith((".global", ".const", ".visible .global"))]
    return kept, found


def _statements(body: str) -> list[str]:
    """Statements and labels; braces that open and close a scope stand alone."""
    body = re.sub(r"\{([^{};\n]*)\}", r"<\1>", body)  # vectors
    body = re.sub(r"([{}])", r";\1;", body)
    body = re.sub(r"^\s*([$\w.]+):", r";\1:;", body, flags=re.M)
    return [" ".join(part.split()) for part in body.split(";") if part.strip()]


def _global(line: str) -> str:
    found = re.match(
        r"\.(?:visible \.)?(?:global|const) (?:\.align (\d+) )?\.(\w+) ([\w.$]+)(?:\[(\d*)\])?(?: = (.*))?;", line
    )
    if found is None:
        raise NotImplementedError(line)
    align, kind, name, _, values = found.groups()
    items = [part.strip() for part in (values or "").strip("{}").split(",") if part.strip()]
    form = f"i{bits_of(kind)}"
    written = ", ".join(
        f'{form} ptrtoint (ptr @"{item[8:-1]}" to {form})' if item.startswith("generic(") else f"{form} {item}"
        for item in items
    )
    return f'@"{name}" = internal constant [{len(items)} x {form}] [{written}], align {align or 8}'


class _Instructions(Body):
    """What each instruction does."""

    def act(self, name: str, parts: list[str], operands: list[str]) -> None:
        """See `Body`."""
        if name in _CALLED:
            self._called(_CALLED[name], parts, operands)
        elif name in ("and", "or", "xor"):
            self._plain(name, parts, operands)
        else:
            act = getattr(self, f"on_{name}", None)
            if act is None:
                raise KeyError(name)
            act(parts, operands)

    # ---- flow

    def on_bra(self, parts: list[str], operands: list[str]) -> None:
        self._end(f'br label %"{operands[0]}"')

    def on_brx(self, parts: list[str], operands: list[str]) -> None:
        index = self.read(operands[0], "i32")
        labels = self.targets[operands[1]]
        ways = " ".join(f'i32 {k}, label %"{label}"' for k, label in enumerate(labels))
        self._end(f'switch i32 {index}, label %"{labels[-1]}" [{ways}]')

    def on_ret(self, parts: list[str], operands: list[str]) -> None:
        self._end("ret void")

    on_exit = on_ret

    def on_trap(self, parts: list[str], operands: list[str]) -> None:
        self._end("unreachable")

    def on_call(self, parts: list[str], operands: list[str]) -> None:
        written = ", ".join(operands)
        found = re.match(r"^(?:\((\w+)\), )?([\w.$]+)(?:, \((.*)\))?$", written)
        if found is None:
            raise NotImplementedError(written)
        result, name, given = found.groups()
        values = [self.places[n.strip()] for n in ([result] if result else []) + (given or "").split(",") if n.strip()]
        self.made.append(f'call void @"{name}"({", ".join(f"ptr {value}" for value in values)})')

    # ---- memory

    def on_ld(self, parts: list[str], operands: list[str]) -> None:
        kind = parts[-1]
        place, form = self._address(operands[1]), f"i{bits_of(kind)}"
        names = operands[0].strip("<>").split(",")
        for k, name in enumerate(names):
            at = self._new(f"getelementptr i8, ptr {place}, i64 {k * bits_of(kind) // 8}")
            self.write(name, self._new(f"load {form}, ptr {at}, align 1"), form, kind[0] == "s")

    def on_st(self, parts: list[str], operands: list[str]) -> None:
        kind = parts[-1]
        place, form = self._address(operands[0]), f"i{bits_of(kind)}"
        for k, value in enumerate(operands[1].strip("<>").split(",")):
            at = self._new(f"getelementptr i8, ptr {place}, i64 {k * bits_of(kind) // 8}")
            self.made.append(f"store {form} {self.read(value, form)}, ptr {at}, align 1")

    def on_cvta(self, parts: list[str], operands: list[str]) -> None:
        self.write(operands[0], self.read(operands[1], "i64"), "i64")

    # ---- moves

    def on_mov(self, parts: list[str], operands: list[str]) -> None:
        form = f"i{bits_of(parts[-1])}"
        to, source = operands
        if source.startswith("<"):
            pieces = source.strip("<>").split(",")
            own = int(form[1:]) // len(pieces)
            total = "0"
            for k, piece in enumerate(pieces):
                wide = self._as(self.read(piece, f"i{own}"), f"i{own}", form)
                total = self._new(f"or {form} {total}, {self._new(f'shl {form} {wide}, {own * k}')}")
            self.write(to, total, form)
        elif to.startswith("<"):
            value, pieces = self.read(source, form), to.strip("<>").split(",")
            own = int(form[1:]) // len(pieces)
            for k, piece in enumerate(pieces):
                self.write(piece, self._as(self._new(f"lshr {form} {value}, {own * k}"), form, f"i{own}"), f"i{own}")
        else:
            self.write(to, self.read(source, form), form)

    def on_selp(self, parts: list[str], operands: list[str]) -> None:
        form = form_of(parts[-1])
        a, b, p = self.read(operands[1], form), self.read(operands[2], form), self.read(operands[3], "i1")
        self.write(operands[0], self._new(f"select i1 {p}, {form} {a}, {form} {b}"), form)

    def on_setp(self, parts: list[str], operands: list[str]) -> None:
        kind, sign = parts[-1], parts[0]
        form = form_of(kind)
        a, b = self.read(operands[1], form), self.read(operands[2], form)
        if kind[0] == "f":
            found = self._new(f"fcmp {(_ORDERED | _UNORDERED)[sign]} {form} {a}, {b}")
        else:
            unsigned = kind[0] in "ub"
            sign = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}.get(sign, sign)
            found = self._new(
                f"icmp {sign if sign in ('eq', 'ne') else ('u' if unsigned else 's') + sign} {form} {a}, {b}"
            )
        if len(parts) > 2 and parts[1] in ("and", "or", "xor"):
            found = self._new(f"{parts[1]} i1 {found}, {self.read(operands[3], 'i1')}")
        self.write(operands[0], found, "i1")

    # ---- arithmetic

    def _plain(self, name: str, parts: list[str], operands: list[str]) -> None:
        form = form_of(parts[-1])
        values = [self.read(operand, form) for operand in operands[1:]]
        self.write(operands[0], self._new(f"{name} {form} {', '.join(values)}"), form)

    def _call(self, name: str, kind: str, *values: str) -> str:
        form = form_of(kind)
        suffix = kind if kind[0] == "f" else form
        return self._new(f"call {form} @llvm.{name}.{suffix}({', '.join(f'{form} {value}' for value in values)})")

    def _called(self, name: str, parts: list[str], operands: list[str]) -> None:
        values = [self.read(operand, form_of(parts[-1])) for operand in operands[1:]]
        self.write(operands[0], self._call(name, parts[-1], *values), form_of(parts[-1]))

    def _sum(self, name: str, parts: list[str], operands: list[str]) -> None:
        kind = parts[-1]
        if kind[0] != "f":
            self._carried(name, parts, operands)
            return
        if self.fuse and "rn" not in parts:
            for k, other in ((1, 2), (2, 1)):
                if operands[k] in self.products:
                    form = form_of(kind)
                    a, b = (self.read(x, form) for x in self.products[operands[k]])
                    c = self.read(operands[other], form)
                    if name == "sub" and k == 1:
                        c = self._new(f"fneg {form} {c}")
                    elif name == "sub":
                        a = self._new(f"fneg {form} {a}")
                    self.write(operands[0], self._call("fma", kind, a, b, c), form)
                    return
        self._plain(f"f{name}", parts, operands)

    def _carried(self, name: str, parts: list[str], operands: list[str], values: list[str] | None = None) -> None:
        """add, sub, with what was carried before and is carried on."""
        form = form_of(parts[-1])
        wide = f"i{int(form[1:]) + 2}"
        given = values or [self.read(operand, form) for operand in operands[1:]]
        a, b = (self._new(f"zext {form} {value} to {wide}") for value in given)
        total = self._new(f"{name} {wide} {a}, {b}")
        if "c" in parts:
            carry = self._new(f"zext i1 {self._new('load i1, ptr %carry')} to {wide}")
            total = self._new(f"{name} {wide} {total}, {carry}")
        if "cc" in parts:
            over = self._new(f"lshr {wide} {total}, {form[1:]}")
            self.made.append(f"store i1 {self._new(f'trunc {wide} {over} to i1')}, ptr %carry")
        self.write(operands[0], self._new(f"trunc {wide} {total} to {form}"), form)

    def on_add(self, parts: list[str], operands: list[str]) -> None:
        self._sum("add", parts, operands)

    def on_sub(self, parts: list[str], operands: list[str]) -> None:
        self._sum("sub", parts, operands)

    def on_addc(self, parts: list[str], operands: list[str]) -> None:
        self._carried("add", ["c", *parts], operands)

    def on_subc(self, parts: list[str], operands: list[str]) -> None:
        self._carried("sub", ["c", *parts], operands)

    def _product(self, parts: list[str], a: str, b: str) -> tuple[str, str]:
        """A product of whole numbers, and its form: the low or the high half, or all of it."""
        kind = parts[-1]
        form, extend = form_of(kind), "sext" if kind[0] == "s" else "zext"
        if "lo" in parts:
            return self._new(f"mul {form} {a}, {b}"), form
        wide = f"i{2 * int(form[1:])}"
        both = [self._new(f"{extend} {form} {x} to {wide}") for x in (a, b)]
        total = self._new(f"mul {wide} {both[0]}, {both[1]}")
        if "wide" in parts:
            return total, wide
        return self._new(f"trunc {wide} {self._new(f'lshr {wide} {total}, {form[1:]}')} to {form}"), form

    def on_mul(self, parts: list[str], operands: list[str]) -> None:
        form = form_of(parts[-1])
        if parts[-1][0] == "f":
            self._plain("fmul", parts, operands)
            if (
                "rn" not in parts
                and operands[0] in self.once
                and all(x in self.once or x[0] != "%" for x in operands[1:])
            ):
                self.products[operands[0]] = operands[1], operands[2]
            return
        a, b = self.read(operands[1], form), self.read(operands[2], form)
        self.write(operands[0], *self._product(parts, a, b))

    def on_mad(self, parts: list[str], operands: list[str]) -> None:
        form = form_of(parts[-1])
        value, own = self._product(parts, self.read(operands[1], form), self.read(operands[2], form))
        if "wide" in parts:
            self.write(operands[0], self._new(f"add {own} {value}, {self.read(operands[3], own)}"), own)
        else:
            self._carried("add", parts, operands, [value, self.read(operands[3], form)])

    def on_madc(self, parts: list[str], operands: list[str]) -> None:
        self.on_mad(["c", *parts], operands)

    def on_div(self, parts: list[str], operands: list[str]) -> None:
        self._plain({"f": "fdiv", "s": "sdiv", "u": "udiv"}[parts[-1][0]], parts, operands)

    def on_rem(self, parts: list[str], operands: list[str]) -> None:
        self._plain({"s": "srem", "u": "urem"}[parts[-1][0]], parts, operands)

    def on_rcp(self, parts: list[str], operands: list[str]) -> None:
        form = form_of(parts[-1])
        self.write(operands[0], self._new(f"fdiv {form} 1.0, {self.read(operands[1], form)}"), form)

    def on_rsqrt(self, parts: list[str], operands: list[str]) -> None:
        form = form_of(parts[-1])
        own = self._call("sqrt", parts[-1], self.read(operands[1], form))
        self.write(operands[0], self._new(f"fdiv {form} 1.0, {own}"), form)

    def on_copysign(self, parts: list[str], operands: list[str]) -> None:
        self._called("copysign", parts, [operands[0], operands[2], operands[1]])

    def on_neg(self, parts: list[str], operands: list[str]) -> None:
        form = form_of(parts[-1])
        value = self.read(operands[1], form)
        self.write(
            operands[0], self._new(f"fneg {form} {value}" if parts[-1][0] == "f" else f"sub {form} 0, {value}"), form
        )

    def on_abs(self, parts: list[str], operands: list[str]) -> None:
        form = form_of(parts[-1])
        value = self.read(operands[1], form)
        if parts[-1][0] == "f":
            self.write(operands[0], self._call("fabs", parts[-1], value), form)
        else:
            self.write(operands[0], self._new(f"call {form} @llvm.abs.{form}({form} {value}, i1 false)"), form)

    def _extreme(self, name: str, parts: list[str], operands: list[str]) -> None:
        kind = parts[-1]
        self._called(f"{name}num" if kind[0] == "f" else f"{'s' if kind[0] == 's' else 'u'}{name}", parts, operands)

    def on_min(self, parts: list[str], operands: list[str]) -> None:
        self._extreme("min", parts, operands)

    def on_max(self, parts: list[str], operands: list[str]) -> None:
        self._extreme("max", parts, operands)

    # ---- bits

    def on_not(self, parts: list[str], operands: list[str]) -> None:
        form = form_of(parts[-1])
        every = "true" if form == "i1" else "-1"
        self.write(operands[0], self._new(f"xor {form} {self.read(operands[1], form)}, {every}"), form)

    def _shift(self, name: str, parts: list[str], operands: list[str]) -> None:
        form = form_of(parts[-1])
        bits = int(form[1:])
        amount = self.read(operands[2], "i32")
        most = self._new(f"icmp ugt i32 {amount}, {bits - 1}")
        own = self._as(self._new(f"select i1 {most}, i32 {bits - 1}, i32 {amount}"), "i32", form)
        value = self.read(operands[1], form)
        moved = self._new(f"{name} {form} {value}, {own}")
        if name != "ashr":
            moved = self._new(f"select i1 {most}, {form} 0, {form} {moved}")
        self.write(operands[0], moved, form)

    def on_shl(self, parts: list[str], operands: list[str]) -> None:
        self._shift("shl", parts, operands)

    def on_shr(self, parts: list[str], operands: list[str]) -> None:
        self._shift("ashr" if parts[-1][0] == "s" else "lshr", parts, operands)

    def on_shf(self, parts: list[str], operands: list[str]) -> None:
        low, high = (self._new(f"zext i32 {self.read(x, 'i32')} to i64") for x in operands[1:3])
        both = self._new(f"or i64 {low}, {self._new(f'shl i64 {high}, 32')}")
        amount = self._new(f"and i32 {self.read(operands[3], 'i32')}, 31")
        wide = self._new(f"zext i32 {amount} to i64")
        if parts[:2] == ["l", "wrap"]:
            moved = self._new(f"lshr i64 {self._new(f'shl i64 {both}, {wide}')}, 32")
        elif parts[:2] == ["r", "wrap"]:
            moved = self._new(f"lshr i64 {both}, {wide}")
        else:
            raise NotImplementedError(".".join(parts))
        self.write(operands[0], self._new(f"trunc i64 {moved} to i32"), "i32")

    def on_bfe(self, parts: list[str], operands: list[str]) -> None:
        if parts[-1] not in ("u32", "u64"):
            raise NotImplementedError(parts[-1])
        form = form_of(parts[-1])
        moved = self._new(f"lshr {form} {self.read(operands[1], form)}, {self.read(operands[2], form)}")
        mask = self._new(f"sub {form} {self._new(f'shl {form} 1, {self.read(operands[3], form)}')}, 1")
        self.write(operands[0], self._new(f"and {form} {moved}, {mask}"), form)

    def on_clz(self, parts: list[str], operands: list[str]) -> None:
        form = form_of(parts[-1])
        found = self._new(f"call {form} @llvm.ctlz.{form}({form} {self.read(operands[1], form)}, i1 false)")
        self.write(operands[0], self._as(found, form, "i32"), "i32")

    def on_popc(self, parts: list[str], operands: list[str]) -> None:
        form = form_of(parts[-1])
        self.write(
            operands[0], self._as(self._call("ctpop", parts[-1], self.read(operands[1], form)), form, "i32"), "i32"
        )

    # ---- conversions

    def on_cvt(self, parts: list[str], operands: list[str]) -> None:
        to, source = parts[-2], parts[-1]
        here, there = form_of(source), form_of(to)
        value = self.read(operands[1], here)
        signed = to[0] == "s"
        if source[0] == "f" and to[0] == "f":
            if rounding := next((_ROUNDS[p] for p in parts if p in _ROUNDS), None):
                value = self._call(rounding, source, value)
            if here != there:
                value = self._new(f"{'fptrunc' if there == 'float' else 'fpext'} {here} {value} to {there}")
        elif source[0] == "f":
            value = self._call(next(_ROUNDS[p] for p in parts if p in _ROUNDS), source, value)
            value = self._new(f"call {there} @llvm.fpto{'s' if signed else 'u'}i.sat.{there}.{source}({here} {value})")
        elif to[0] == "f":
            value = self._new(f"{'sitofp' if source[0] == 's' else 'uitofp'} {here} {value} to {there}")
        elif int(there[1:]) > int(here[1:]) and source[0] == "s":
            value = self._new(f"sext {here} {value} to {there}")
        else:
            value = self._as(value, here, there)
        self.write(operands[0], value, there, signed)
