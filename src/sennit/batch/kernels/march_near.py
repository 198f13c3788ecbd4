"""Steps of many scenes on a graphics card, whose numbers are brought into each thread's own memory for them.

A card keeps the own memories of 32 threads, which do the same at the same time, interleaved: when all of them read the
same word of their scenes, they read one line. Rows one after the other are 32 lines.
"""

from __future__ import annotations

from sennit.batch.kernels.march_each import march_scene
from sennit.batch.kernels.read import tables_at
from sennit.compilation import inlined, kernel
from sennit.threads import hidden, read_word, thread, write_word


@inlined
def copied(source, target, begin, end):
    """Copy the words `begin` to `end` of what is at one address to another."""
    for k in range(begin, end):
        write_word(target + 8 * k, read_word(source + 8 * k))


@inlined
def pointed(target, at, base, to):
    """Write addresses ``base + to`` to the words `at` of what is at `target`."""
    for j in range(at.size):
        write_word(target + 8 * at[j], base + to[j])


@kernel
def march_near(launch, near, like, own):
    """`march_each` in the thread's own memory, at the address `own`: numbers come there and go back when it is done."""
    k = thread()
    if k >= launch.waiting.size:
        return
    i = launch.waiting[k]
    main, room, size = near.main[i], near.room[i], near.main_words[0]
    there = own + 8 * size
    copied(main, own, 0, size)
    copied(room, there, 0, near.room_words[0])
    pointed(own, near.main_at, own, near.main_to)
    pointed(there, near.room_at, own, near.room_to)
    pointed(there, near.inner_at, there, near.inner_to)
    march_scene(i, launch, tables_at(hidden(there + near.root[0]), like))
    hidden(own)
    copied(own, main, near.main_head[0], size)
    copied(there, room, near.room_head[0], near.room_words[0])
