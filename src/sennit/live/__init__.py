"""The simulation's side of a page: what is run, what is sent to the page and what may come back from it."""
