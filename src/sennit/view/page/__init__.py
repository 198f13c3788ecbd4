"""The page process: a web server that shows what a simulation writes into shared memory, and sends back what is asked.

It runs beside the simulation (``python -m sennit.view.page``), so that drawing never delays a step. Its parts::

    server      the web server: who may connect, what the browser is given
    picking     which material place a ray from the pointer meets
    painting    parts of a picture as few meshes, each of one colour
    stage       those meshes, ground, gizmos and the hand's line in the browser's scene
    legend      colours of a field and the range that they span
    plots       watched values over the last seconds
    panel       buttons, sliders, lists
    hand        who holds what
    app         puts them together and keeps them up to date
"""
