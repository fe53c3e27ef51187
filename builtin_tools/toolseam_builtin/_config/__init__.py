"""Configuration files: read within limits, never expanded, shown without their secrets.

::

    _files    which files there are, through the path guard
    _parse    text to values: _toml, _yaml, _json, _ini, _dotenv, _python
    _layers   several files over each other
    _shown    values as they may be shown: flattened, masked; _paths finds a part of them
    _checks   what is wrong, or odd, in files
    _templates, _addresses   template names; addresses of the workspace's settings
"""
