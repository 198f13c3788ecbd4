"""The share of a zone in a patch: means of places, normals and of what the seams do to it, and its compliance."""

from __future__ import annotations

from sennit.compilation import kernel


@kernel
def share_of_zone(skin, part, z, ids, weights, count, out):
    """Fill `out` (`FeltPatch`) with what the patch `ids`, `weights` (its first `count`) has in zone `z`.

    `skin` and `part` are the tables `FeltSkin` and `FeltPart`. Fixed vertices count with their places, and do not move.
    """
    C, P = part.compliance, part.influence
    columns = P.shape[1]
    out.weight[0] = 0.0
    for a in range(3):
        out.place[0, a], out.normal[0, a] = 0.0, 0.0
        for b in range(3):
            out.compliance[0, a, b] = 0.0
        for j in range(columns):
            out.influence[0, a, j] = 0.0
    for k in range(count):
        v = ids[k]
        if skin.zone[v] != z:
            continue
        w, i = weights[k], skin.slot[v]
        out.weight[0] += w
        for a in range(3):
            out.place[0, a] += w * skin.place[v, a]
            out.normal[0, a] += w * skin.normal[v, a]
        if i < 0:
            continue
        for a in range(3):
            row, mean = P[3 * i + a], out.influence[0, a]
            for j in range(columns):
                mean[j] += w * row[j]
        for l in range(k + 1):
            u = ids[l]
            if skin.zone[u] != z or skin.slot[u] < 0:
                continue
            o, both = skin.slot[u], w * weights[l]
            for a in range(3):
                for b in range(3):
                    value = both * C[3 * i + a, 3 * o + b]
                    out.compliance[0, a, b] += value
                    if l < k:
                        out.compliance[0, b, a] += value
