"""The files of the demo's workspace: the web site of a small museum, all of it made up."""

from __future__ import annotations

from typing import Final

DATABASE: Final = "museum.sqlite"

_WEB = '''\
"""The museum's web site as a WSGI application; needs nothing but the standard library."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterable
from typing import Any

from app import pages, prices

LOG = logging.getLogger("museum")
ROUTES = (
    (re.compile(r"/$"), "home"),
    (re.compile(r"/pages/(?P<slug>[a-z0-9-]+)$"), "page"),
    (re.compile(r"/tickets/(?P<event>[0-9]+)/price$"), "price"),
    (re.compile(r"/health$"), "health"),
)


class Timing:
    """Middleware: logs every request."""

    def __init__(self, application: Callable[..., Iterable[bytes]]) -> None:
        self.application = application

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        LOG.info("%s %s", environ["REQUEST_METHOD"], environ.get("PATH_INFO", "/"))
        return self.application(environ, start_response)


def home() -> dict[str, Any]:
    return {"title": "Harbour Museum", "pages": pages.published("en")}


def page(slug: str) -> dict[str, Any]:
    found = pages.by_slug(slug)
    return found or {"error": "no such page"}


def price(event: str) -> dict[str, Any]:
    return {"event": int(event), "cents": prices.price_of(int(event))}


def health() -> dict[str, Any]:
    return {"ok": True}


def respond(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    for pattern, endpoint in ROUTES:
        match = pattern.match(environ.get("PATH_INFO", "/"))
        if match:
            body = json.dumps(globals()[endpoint](**match.groupdict()))
            start_response("200 OK", [("Content-Type", "application/json")])
            return [body.encode()]
    start_response("404 Not Found", [("Content-Type", "text/plain")])
    return [b"not found"]


application = Timing(respond)
'''

_PAGES = '''\
"""Pages: a tree in one table, with drafts and languages."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

DATABASE = Path(__file__).parent.parent / "museum.sqlite"


def _rows(query: str, *values: object) -> list[dict[str, Any]]:
    connection = sqlite3.connect(DATABASE)
    try:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(query, values)]
    finally:
        connection.close()


def published(language: str) -> list[str]:
    """Titles of what visitors may see, in menu order."""
    query = "SELECT title FROM pages WHERE NOT draft AND language = ? ORDER BY parent_id, position"
    return [row["title"] for row in _rows(query, language)]


def by_slug(slug: str) -> dict[str, Any] | None:
    """One published page."""
    found = _rows("SELECT title, body FROM pages WHERE slug = ? AND NOT draft", slug)
    return found[0] if found else None
'''

_PRICES = '''\
"""What a ticket costs."""

from __future__ import annotations

from app.pages import _rows


def price_of(event: int) -> int:
    """Cents, without a discount."""
    (row,) = _rows("SELECT price FROM events WHERE id = ?", event)
    return cents(row["price"])


def cents(amount: str) -> int:
    """Read "12.50" as 1250."""
    euros, _, rest = amount.partition(".")
    return int(euros) * 100 + int(rest or 0)
'''

PRICES_LINE: Final = _PRICES.splitlines().index("    return int(euros) * 100 + int(rest or 0)") + 1
CALLER_LINE: Final = _PRICES.splitlines().index('    return cents(row["price"])') + 1
WEB_LINE: Final = (
    _WEB.splitlines().index(
        '    return {"event": int(event), "cents": prices.price_of(int(event))}'
    )
    + 1
)

FILES: Final = {
    "toolseam.toml": """\
# The workspace file describes what is here. It can narrow what the operator allows, never widen it.

[workspace]
database = "museum.sqlite"
source_root = "app"
logs = ["logs/museum.log*"]
config_files = ["config/site.toml", "config/routes.yaml", "config/legacy.ini", ".env"]
settings_layers = ["config/site.toml", "config/site.local.toml"]
templates = ["theme/templates", "templates"]
web_app = "app.web:application"
web_routes = "app.web:ROUTES"
web_hosts = ["harbour-museum.example"]

[workspace.storages]
media = "media"

[workspace.tables.pages]
label = "title"
parent = "parent_id"
position = "position"
draft = "draft"
language = "language"
translation_of = "translation_of"
history = "pages_history"
editable = ["title", "slug", "body"]

[workspace.tables.files]
label = "title"
files = ["path"]
alternative_text = "alternative_text"
history = "files_history"
editable = ["alternative_text"]

[workspace.accounts]
users = "users"
groups = "teams"

[workspace.index]
folders = ["docs"]
columns = ["pages.body"]
""",
    "app/__init__.py": '"""The web site of the Harbour Museum."""\n',
    "app/web.py": _WEB,
    "app/pages.py": _PAGES,
    "app/prices.py": _PRICES,
    "config/site.toml": """\
title = "Harbour Museum"
languages = ["en", "de"]
default_language = "en"

[cache]
backend = "memory"
seconds = 300

[mail]
host = "mail.museum.example"
port = 587
user = "website"
password = "made-up-Kf83nd02"
""",
    "config/site.local.toml": "[cache]\nseconds = 5\n",
    "config/routes.yaml": """\
# country codes of visitors that get another start page
redirects:
  no: /pages/velkommen
  de: /pages/willkommen
opens: 09:30
version: 1.10
""",
    "config/legacy.ini": """\
[booking]
url = https://booking:made-up-9d8f7a@booking.museum.example/api
timeout = 15
""",
    ".env": """\
MUSEUM_ENV=production
MUSEUM_SECRET_KEY=made-up-3f9c0b6e1d5a48
DATABASE_URL=postgresql://site:made-up-Hq72@db.museum.example/site
EMPTY_TOKEN=
""",
    "templates/base.html": """\
<!doctype html>
<html lang="{{ language }}">
<title>{% block title %}Harbour Museum{% endblock %}</title>
<body>{% block body %}{% endblock %}</body>
</html>
""",
    "templates/page.html": """\
{% extends "base.html" %}
{% block title %}{{ page.title }} - {{ super() }}{% endblock %}
{% block body %}
<h1>{{ page.title }}</h1>
{{ page.body }}
{% include "parts/hours.html" %}
{% endblock %}
""",
    "templates/parts/hours.html": "<p>Open {{ hours }}</p>\n",
    "theme/templates/parts/hours.html": "<aside>Open {{ hours }}, closed on Mondays</aside>\n",
    "media/harbour.svg": """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20"><title>The harbour</title>
<path d="M0 15h40v5H0z" fill="#246"/><path d="M8 14l4-9 4 9z" fill="#c63"/></svg>
""",
    "media/plans/ground-floor.svg": """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 60 40"><title>Ground floor</title>
<path d="M1 1h58v38H1zM30 1v38M30 20h29" fill="none" stroke="#246"/></svg>
""",
    "media/opening-hours.txt": "Tuesday to Sunday, 10:00 to 18:00\n",
    "etc/cron.d/museum": """\
# what the site does by itself
SHELL=/bin/sh
CRON_TZ=Europe/Lisbon
MAILTO=site@museum.example
BOOKING_TOKEN=made-up-77c1ab

*/5 * * * *	museum	python -m app.mail --send
15 6 * * 2-7 museum /opt/museum/publish --opens 10:00
0 3 1 * * root /opt/museum/backup --password made-up-Qz81 --to nas
@reboot museum /opt/museum/warm-cache
30 25 * * * museum /opt/museum/report
""",
    "docs/visitors.md": """\
# What visitors ask

## When is the museum open?

Tuesday to Sunday from 10:00 to 18:00, on Thursdays until 21:00. Closed on 24 and 25 December.

## May I take photographs?

Yes, without flash and tripod. The charts of the North Sea are lent to us and may not be pictured.
""",
    "docs/editors.md": """\
# For editors

A page is a draft until somebody takes the mark off. Give every picture an alternative text.
Prices are written with a point: `12.50`.
""",
}
"""Relative name to text."""
