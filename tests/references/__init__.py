"""Independent references for the tests: methods that share no code and no discretisation with the library.

Every function states how accurate it is and what it was checked against; ``verification/test_references.py`` repeats
those checks.  Plain numpy, scipy and mpmath.

Conventions, the library's: R' = R[u], r' = R v, columns of R are d1 d2 d3; internal force n and moment m are what the
part beyond s exerts on the part before s, so that n' = -f and m' = -r' x n - t with *applied* loads f, t per length.
"""
