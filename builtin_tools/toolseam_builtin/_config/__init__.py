"""Configuration files: read within limits, never expanded, shown without their secrets.

::

    _files    which files there are, through the path guard
    _parse    text to values: _toml, _yaml, _json, _ini, _dotenv, _python
    _layers   several files over each other
    _shown    values as they may be shown: flattened, masked, found by path
"""
