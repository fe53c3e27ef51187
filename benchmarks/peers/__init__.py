"""The other side: one module a peer, run by that peer's own interpreter.

Each has `calls(runner)`, which makes the peer ready and gives what calls one tool through the
peer's own seam, and `listing()`, which makes 46 tools and prints their names. The imports stand
inside, so that a listing pays for what it uses only.
"""
