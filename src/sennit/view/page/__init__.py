"""The page process: a web server that shows what a simulation writes into shared memory, and sends back what is asked.

It runs beside the simulation (``python -m sennit.view.page``), so that drawing never delays a step. Its parts::

    gate        who may open it: a secret in its address, and which sites a browser may come from
    document    the one document that is handed out: ``web/``, and the drawing that it shares with files that play
    server      the web server
    messages    what is sent to browsers: casts, frames, files
    visitor     one browser: what waits for it, how much it may ask for
    hand        who holds what
    plots       watched values over the last seconds
    app         puts them together, and passes on what both sides say

In ``web/`` are the page, its style and its scripts: the browser draws, finds what is under the pointer, and asks for
one frame after the other.
"""
