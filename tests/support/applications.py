"""Small web applications of each kind, as a workspace has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolseam_builtin.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

PLAIN = """
import re

class Timing:
    def __init__(self, application):
        self.application = application

    def __call__(self, environ, start_response):
        raise AssertionError("no request is made")

def limit(app):
    def limited(environ, start_response):
        return app(environ, start_response)
    return limited

def respond(environ, start_response):
    raise AssertionError("no request is made")

def show(slug): ...

ROUTES = (
    (re.compile(r"/$"), "home"),
    (re.compile(r"/pages/(?P<slug>[a-z-]+)$"), show),
    (r"/old/(\\d+)", "old"),
)
application = Timing(limit(respond))

def make():
    return application
"""

STARLETTE = """
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Host, Mount, Route, WebSocketRoute

async def page(request): raise AssertionError
async def admin(request): raise AssertionError
async def socket(websocket): raise AssertionError

async def timing(request, call_next): raise AssertionError

app = Starlette(
    routes=[
        Route("/pages/{slug}", page),
        Route("/orders", page, methods=["POST"]),
        Route("/slash/", page),
        Mount("/admin", routes=[Route("/users/{user_id:int}", admin)]),
        Mount("/static", app=page, name="static"),
        WebSocketRoute("/live", socket),
        Host("api.example.test", app=Starlette(routes=[Route("/v1/{token}", admin)])),
    ],
    middleware=[Middleware(GZipMiddleware), Middleware(BaseHTTPMiddleware, dispatch=timing)],
)
"""

FASTAPI = """
from fastapi import APIRouter, FastAPI

app = FastAPI()
router = APIRouter(prefix="/items")

@router.get("/{item_id}")
def read_item(item_id: int, q: str = ""): raise AssertionError

@app.middleware("http")
async def timing(request, call_next): raise AssertionError

app.include_router(router)
"""

FLASK = """
from flask import Blueprint, Flask
from werkzeug.middleware.proxy_fix import ProxyFix

app = Flask(__name__)
shop = Blueprint("shop", __name__, url_prefix="/shop")

@app.route("/pages/<slug>")
def page(slug): raise AssertionError

@shop.route("/orders/<int:number>", methods=["POST"])
def order(number): raise AssertionError

@app.route("/slash/")
def slash(): raise AssertionError

@app.before_request
def check(): raise AssertionError

app.register_blueprint(shop)
app.wsgi_app = ProxyFix(app.wsgi_app)
"""

DJANGO = {
    "mysite/__init__.py": "",
    "mysite/settings.py": """
SECRET_KEY = "Aster9Tulip77"
ROOT_URLCONF = "mysite.urls"
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.common.CommonMiddleware",
]
""",
    "mysite/urls.py": r"""
from django.urls import include, path, re_path
from django.views import View

def page(request, slug): raise AssertionError

class Order(View):
    pass

urlpatterns = [
    path("pages/<slug:slug>/", page),
    path("shop/", include([path("orders/<int:number>", Order.as_view())])),
    re_path(r"^old/(\d+)$", page),
]
""",
    "mysite/wsgi.py": """
import os
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mysite.settings")
application = get_wsgi_application()
""",
}


def application(folder: Path, source: str | dict[str, str], name: str, **more: Any) -> Workspace:
    """Write an application's files and return the trusted workspace that names it."""
    files = {"main.py": source} if isinstance(source, str) else source
    for file, text in files.items():
        place = folder / file
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return Workspace(**{"folder": folder, "trusted": True, "web_app": name, **more})
