"""Vector instructions for dense blocks: tiles of a product, four dot products or four columns at once, turned blocks.

Numba turns none of these loops into vector instructions by itself: sums may not be reordered, and stores into the array
that is also read look as if they could overlap. So the instructions are written out, four doubles (eight floats) wide;
the compiler splits or joins them as the processor likes. A 216 × 216 Cholesky factor made of such tiles takes about
half the time of a threaded library's, and never wakes other threads, which a loop at 1 kHz would wait for.

Arrays are C-contiguous and are read as one row of memory: an entry is named by its place `at` in it, and `ld` is the
distance of rows. Lengths are multiples of 4 (the padding of seams provides for that).
"""

from __future__ import annotations

from llvmlite import ir

from sennit.compilation import intrinsic

_INT = ir.IntType(64)
_DOUBLE = ir.DoubleType()
_FUSED = ("contract",)
WIDTH = 4


def _vector(real):
    return ir.VectorType(real, 8 if isinstance(real, ir.FloatType) else WIDTH)


def _int(value):
    return ir.Constant(_INT, value)


def _data(context, builder, kind, value):
    return context.make_array(kind)(context, builder, value).data


def _load(builder, pointer, vector):
    # Rows begin anywhere: only the alignment of one number is promised.
    size = 4 if isinstance(vector.element, ir.FloatType) else 8
    return builder.load(builder.bitcast(pointer, vector.as_pointer()), align=size)


def _store(builder, value, pointer):
    size = 4 if isinstance(value.type.element, ir.FloatType) else 8
    builder.store(value, builder.bitcast(pointer, value.type.as_pointer()), align=size)


def _spread(builder, scalar, vector):
    nothing = ir.Constant(vector, ir.Undefined)
    one = builder.insert_element(nothing, scalar, ir.Constant(ir.IntType(32), 0))
    lanes = ir.VectorType(ir.IntType(32), vector.count)
    return builder.shuffle_vector(one, nothing, ir.Constant(lanes, [0] * vector.count))


def _fma(builder, a, b, c):
    return builder.fadd(builder.fmul(a, b, flags=_FUSED), c, flags=_FUSED)


def _loop(builder, start, end, step, initial, body):
    """``for i in range(start, end, step)``, carrying `initial` (a list) through `body`; returns the last values."""
    before = builder.block
    head, inside, done = (builder.append_basic_block(name) for name in ("vector.head", "vector.body", "vector.done"))
    builder.branch(head)
    builder.position_at_end(head)
    i = builder.phi(_INT)
    i.add_incoming(start, before)
    carried = [builder.phi(value.type) for value in initial]
    for phi, value in zip(carried, initial, strict=True):
        phi.add_incoming(value, before)
    builder.cbranch(builder.icmp_signed("<", i, end), inside, done)
    builder.position_at_end(inside)
    after = body(i, carried)
    i.add_incoming(builder.add(i, _int(step)), builder.block)
    for phi, value in zip(carried, after, strict=True):
        phi.add_incoming(value, builder.block)
    builder.branch(head)
    builder.position_at_end(done)
    return carried


def _tile(rows):
    """The instructions of ``tile8`` and ``tile4``."""
    from numba.core import types

    def declare(typingctx, C, A, B, c0, ldc, a0, lda, b0, ldb, depth):
        def codegen(context, builder, signature, args):
            C, A, B = (_data(context, builder, *pair) for pair in zip(signature.args[:3], args[:3], strict=True))
            c0, ldc, a0, lda, b0, ldb, depth = args[3:]
            vector, parts = _vector(_DOUBLE), range(0, rows, WIDTH)
            A, B, C = builder.gep(A, [a0]), builder.gep(B, [b0]), builder.gep(C, [c0])

            def step(k, sums):
                pa, pb = builder.gep(A, [builder.mul(k, lda)]), builder.gep(B, [builder.mul(k, ldb)])
                column = [_load(builder, builder.gep(pa, [_int(part)]), vector) for part in parts]
                new = []
                for c in range(4):
                    factor = _spread(builder, builder.load(builder.gep(pb, [_int(c)])), vector)
                    for v, entries in enumerate(column):
                        new.append(_fma(builder, entries, factor, sums[c * len(parts) + v]))
                return new

            zero = ir.Constant(vector, [0.0] * vector.count)
            sums = _loop(builder, _int(0), depth, 1, [zero] * (4 * len(parts)), step)
            for c in range(4):
                row = builder.gep(C, [builder.mul(ldc, _int(c))])
                for v, part in enumerate(parts):
                    pointer = builder.gep(row, [_int(part)])
                    old = _load(builder, pointer, vector)
                    _store(builder, builder.fsub(old, sums[c * len(parts) + v]), pointer)
            return context.get_dummy_value()

        return types.void(C, A, B, *(types.int64,) * 7), codegen

    return declare


@intrinsic
def tile8(typingctx, C, A, B, c0, ldc, a0, lda, b0, ldb, depth):
    """``C[c, i] -= Σ_k A[k, i] B[k, c]`` for 8 places i and 4 rows c, k below `depth`."""
    return _tile(8)(typingctx, C, A, B, c0, ldc, a0, lda, b0, ldb, depth)


@intrinsic
def tile4(typingctx, C, A, B, c0, ldc, a0, lda, b0, ldb, depth):
    """The same for 4 places i."""
    return _tile(4)(typingctx, C, A, B, c0, ldc, a0, lda, b0, ldb, depth)


@intrinsic
def dot4(typingctx, M, at, ld, x, x0, length):
    """The products of four rows of `M`, from `at` on, with `x` from x0 on: a tuple of four; any type of float."""
    from numba.core import types

    def codegen(context, builder, signature, args):
        M, x = (_data(context, builder, signature.args[k], args[k]) for k in (0, 3))
        at, ld, x0, length = args[1], args[2], args[4], args[5]
        vector = _vector(M.type.pointee)
        x = builder.gep(x, [x0])
        rows = [builder.gep(M, [builder.add(at, builder.mul(ld, _int(c)))]) for c in range(4)]

        def step(i, sums):
            entries = _load(builder, builder.gep(x, [i]), vector)
            loaded = (_load(builder, builder.gep(row, [i]), vector) for row in rows)
            return [_fma(builder, value, entries, total) for value, total in zip(loaded, sums, strict=True)]

        zero = ir.Constant(vector, [0.0] * vector.count)
        sums = _loop(builder, _int(0), length, vector.count, [zero] * 4, step)
        totals = []
        for total in sums:
            lanes = [builder.extract_element(total, ir.Constant(ir.IntType(32), k)) for k in range(vector.count)]
            while len(lanes) > 1:  # a fixed order of adding: the same bits everywhere
                half = len(lanes) // 2
                lanes = [builder.fadd(lanes[k], lanes[k + half]) for k in range(half)]
            totals.append(lanes[0])
        return context.make_tuple(builder, signature.return_type, totals)

    return types.UniTuple(M.dtype, 4)(M, types.int64, types.int64, x, types.int64, types.int64), codegen


@intrinsic
def axpy4(typingctx, M, at, ld, a, b, c, d, y, y0, length):
    """``y[i] += a M[0, i] + b M[1, i] + c M[2, i] + d M[3, i]``, rows of `M` from `at` on, `y` from y0 on."""
    from numba.core import types

    def codegen(context, builder, signature, args):
        M, y = (_data(context, builder, signature.args[k], args[k]) for k in (0, 7))
        at, ld, y0, length = args[1], args[2], args[8], args[9]
        vector = _vector(_DOUBLE)
        y = builder.gep(y, [y0])
        rows = [builder.gep(M, [builder.add(at, builder.mul(ld, _int(c)))]) for c in range(4)]
        factors = [_spread(builder, scalar, vector) for scalar in args[3:7]]

        def step(i, _):
            pointer = builder.gep(y, [i])
            total = _load(builder, pointer, vector)
            for row, factor in zip(rows, factors, strict=True):
                total = _fma(builder, _load(builder, builder.gep(row, [i]), vector), factor, total)
            _store(builder, total, pointer)
            return []

        _loop(builder, _int(0), length, vector.count, [], step)
        return context.get_dummy_value()

    reals = (types.float64,) * 4
    return types.void(M, types.int64, types.int64, *reals, y, types.int64, types.int64), codegen


def _places(builder, pointer, start, row, plane):
    """Pointers to the nine planes d, c of one column of nodes, at start + d row + c plane."""
    steps = ((builder.mul(row, _int(d)), builder.mul(plane, _int(c))) for d in range(3) for c in range(3))
    return [builder.gep(pointer, [builder.add(start, builder.add(*step))]) for step in steps]


def _turned(builder, sources, left, right, length, ends):
    """Loop over Lᵀ K R; ``ends(i, a, b)`` tells where what is added to an entry stands and where the sum goes."""
    vector = _vector(_DOUBLE)
    L, R = (
        [_spread(builder, builder.load(builder.gep(base, [_int(k)])), vector) for k in range(9)]
        for base in (left, right)
    )

    def step(i, _):
        given = [_load(builder, builder.gep(source, [i]), vector) for source in sources]
        for b in range(3):
            half = []
            for c in range(3):
                total = builder.fmul(given[c], R[b])
                for d in (1, 2):
                    total = _fma(builder, given[3 * d + c], R[3 * d + b], total)
                half.append(total)
            for a in range(3):
                start, target = ends(i, a, b)
                if target is not None:
                    total = _load(builder, start, vector)
                    for c in range(3):
                        total = _fma(builder, half[c], L[3 * c + a], total)
                    _store(builder, total, target)
        return []

    _loop(builder, _int(0), length, vector.count, [], step)


@intrinsic
def turn_column(typingctx, K, k0, kld, kplane, A, a0, ald, aplane, left, l0, right, r0, length):
    """Add Lᵀ K R of one column of nodes to `A`: ``A[b, a, i] += Σ L[c, a] K[d, c, i] R[d, b]``.

    ``K[d, c, i]`` stands at k0 + d kld + c kplane + i, ``A`` likewise; rotations stand row by row from l0 and r0 on.
    """
    from numba.core import types

    def codegen(context, builder, signature, args):
        K, A, left, right = (_data(context, builder, signature.args[k], args[k]) for k in (0, 4, 8, 10))
        sources, targets = _places(builder, K, *args[1:4]), _places(builder, A, *args[5:8])

        def ends(i, a, b):
            pointer = builder.gep(targets[3 * b + a], [i])
            return pointer, pointer

        _turned(builder, sources, builder.gep(left, [args[9]]), builder.gep(right, [args[11]]), args[12], ends)
        return context.get_dummy_value()

    i64 = types.int64
    return types.void(K, i64, i64, i64, A, i64, i64, i64, left, i64, right, i64, i64), codegen


@intrinsic
def turn_onto(typingctx, K, k0, kld, kplane, b0, bld, bplane, A, a0, ald, aplane, turn, t0, length):
    """``A[b, a, i] = K'[b, a, i] + Σ Q[c, a] K[d, c, i] Q[d, b]`` for a ≥ b alone; K' stands in `K` from b0 on."""
    from numba.core import types

    def codegen(context, builder, signature, args):
        K, A, turn = (_data(context, builder, signature.args[k], args[k]) for k in (0, 7, 11))
        sources, bases = _places(builder, K, *args[1:4]), _places(builder, K, *args[4:7])
        targets = _places(builder, A, *args[8:11])

        def ends(i, a, b):
            if a < b:
                return None, None
            return builder.gep(bases[3 * b + a], [i]), builder.gep(targets[3 * b + a], [i])

        Q = builder.gep(turn, [args[12]])
        _turned(builder, sources, Q, Q, args[13], ends)
        return context.get_dummy_value()

    i64 = types.int64
    return types.void(K, *(i64,) * 6, A, *(i64,) * 3, turn, i64, i64), codegen
