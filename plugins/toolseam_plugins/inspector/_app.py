"""The page and its JSON: what is asked for, and who answers (docs/how-to/inspect.md)."""

from __future__ import annotations

import asyncio
import platform
import time
from importlib import resources
from typing import TYPE_CHECKING, Any

from importlib_metadata import version
from starlette.applications import Starlette
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from toolseam import CONTRACT_VERSION, Zone
from toolseam.providers import Dialect
from toolseam_plugins.inspector import _rows
from toolseam_plugins.inspector._access import Access
from toolseam_plugins.inspector._answers import FAILURES, answer, body_of, number, text_in
from toolseam_plugins.inspector._catalogue import Catalogue
from toolseam_plugins.inspector._deciding import Deciding
from toolseam_plugins.inspector._gate import Gate, Refused
from toolseam_plugins.inspector._json import dumps
from toolseam_plugins.inspector._playground import Playground
from toolseam_plugins.inspector._runs import PAGE, Runs
from toolseam_plugins.inspector._seen import Seen
from toolseam_plugins.inspector._sheets import sheet
from toolseam_plugins.inspector._stored import Stored
from toolseam_plugins.inspector._stream import Stream, line_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

    from toolseam import Actor, Host
    from toolseam_plugins.inspector._seen import LiveRun

_FILES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}
_SHOWN = 50
_HOURS = 24.0 * 366


class Inspector:
    """The page of one host, as an ASGI application; made by `inspector.asgi`."""

    def __init__(
        self,
        host: Host,
        origins: Iterable[str],
        actor: Actor,
        hint: Callable[[Any, str], str] | None,
    ) -> None:
        self._host = host
        self._actor = actor
        self._access = Access()
        self._origins = tuple(origins)
        self._store = Stored(host)
        self._stream = Stream(self._is_over, self._store.head)
        self._over = False
        self._began = time.time()
        self._catalogue = Catalogue(host, actor, hint)
        self._playground = Playground(host, actor)
        self._deciding = Deciding(host, actor, lambda told: self._stream.tell(line_of(told)))
        self._pages = dict(_pages())
        self._gate = Gate(self._app(), self._origins, self._access)
        self._seen = Seen(host, self._tell)
        self._runs = Runs(self._seen, self._store)

    def new_link(self, path: str = "") -> str:
        """Return a link to the page, good for one visit; whoever has it acts as `actor`.

        Args:
            path: below which the application is mounted: `/inspect`.
        """
        return f"{self._origins[0].rstrip('/')}{path.rstrip('/')}/#{self._access.new_token()}"

    def close(self) -> None:
        """End the streams and the runs that go on here, and listen no more."""
        self._over = True
        self._seen.close()
        self._deciding.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self._gate(scope, receive, send)

    def _is_over(self) -> bool:
        return self._over or self._host.closed

    def _tell(self, kind: str, run: LiveRun, what: Any) -> None:  # noqa: ANN401
        """Pass on what happens, if anybody reads."""
        if not self._stream.is_read:
            return
        told: dict[str, object] = {"kind": kind, "run": run.id}
        if kind == "step":
            told["step"] = _rows.step_row(run, what)
        elif kind == "run":
            told["run"] = _rows.run_row(run)
        else:
            told |= {"tool": what.tool, "done": what.done, "total": what.total, "text": what.text}
        self._stream.tell(line_of(told))

    # -- routes -----------------------------------------------------------------------------------

    def _app(self) -> Starlette:
        reads: dict[str, Callable[[Request], Awaitable[Response]]] = {
            "/": self._page,
            "/static/{name}": self._page,
            "/api/host": self._about,
            "/api/tools": self._tools,
            "/api/tools/{name}": self._tool,
            "/api/runs": self._run_list,
            "/api/runs/{run}": self._run,
            "/api/steps/{step}": self._step,
            "/api/steps/{step}/artifacts/{n:int}.{form}": self._artifact,
            "/api/codes": self._codes,
            "/api/waiting": self._waiting,
            "/api/waiting/{run}": self._waiting_run,
            "/api/waiting/{run}/{position:int}": self._waiting_part,
            "/api/stream": self._live,
        }
        changes: dict[str, Callable[[Request], Awaitable[Response]]] = {
            "/api/enter": self._enter,
            "/api/preview": self._preview,
            "/api/call": self._call,
            "/api/revise": self._revise,
            "/api/decide": self._decide,
        }
        routes = [Route(path, give, methods=["GET"]) for path, give in reads.items()]
        routes += [Route(path, give, methods=["POST"]) for path, give in changes.items()]
        return Starlette(routes=routes, exception_handlers=FAILURES)

    async def _page(self, request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        if name not in self._pages:
            raise Refused(404, "not_found", "There is no such page.")
        kind, content = self._pages[name]
        return Response(content, media_type=kind)

    async def _enter(self, request: Request) -> Response:
        said = await body_of(request)
        admission = self._access.enter(text_in(said, "token"))
        if admission is None:
            raise Refused(401, "unauthenticated", "The link was used, or is not known here.")
        entered = answer({"key": admission.key})
        entered.set_cookie(
            self._access.cookie_name,
            admission.cookie,
            path=request.scope.get("root_path") or "/",
            secure=self._origins[0].startswith("https:"),
            httponly=True,
            samesite="strict",
        )
        return entered

    # -- looking ----------------------------------------------------------------------------------

    async def _about(self, _: Request) -> Response:
        tools = await asyncio.to_thread(self._host.tools)
        fault = await asyncio.to_thread(self._store.fault)
        settings = self._host.settings
        limits = settings.limits
        sizes = ("content_bytes", "message_bytes", "artifact_bytes", "data_bytes")
        about = {
            "version": version("toolseam"),
            "contract": CONTRACT_VERSION,
            "python": platform.python_version(),
            "folder": None if settings.folder is None else str(settings.folder),
            "actor": {"name": self._actor.name, "roles": sorted(self._actor.roles)},
            "zones": [zone.value for zone in Zone],
            "zone": Zone(settings.operator.zone).value,
            "level": str(settings.audit.level),
            "audit": {"readable": fault is None, "why": fault},
            "limits": {size: getattr(limits, size) for size in sizes},
            "dialects": [dialect.value for dialect in Dialect],
            "tools": len(tools),
            "dropped": self._seen.dropped,
            "started": self._began,
        }
        return answer(about)

    async def _tools(self, _: Request) -> Response:
        return answer(await asyncio.to_thread(self._catalogue.all))

    async def _tool(self, request: Request) -> Response:
        found = await asyncio.to_thread(self._catalogue.one, request.path_params["name"])
        if found is None:
            raise Refused(404, "not_found", "There is no tool of this name that could be loaded.")
        return answer(found)

    async def _run_list(self, request: Request) -> Response:
        query = request.query_params
        limit = number(query.get("limit", str(_SHOWN)), 1, PAGE)
        before, status = query.get("before", ""), query.get("status", "")
        return answer(await asyncio.to_thread(self._runs.page, before, limit, status))

    async def _run(self, request: Request) -> Response:
        query = request.query_params
        after = number(query.get("after", "0"), 0, 2**53)
        limit = number(query.get("limit", str(PAGE)), 1, PAGE)
        run_id = request.path_params["run"]
        return answer(await asyncio.to_thread(self._runs.one, run_id, after, limit))

    async def _step(self, request: Request) -> Response:
        return answer(await asyncio.to_thread(self._runs.step, request.path_params["step"]))

    async def _artifact(self, request: Request) -> Response:
        where = request.path_params
        found = await asyncio.to_thread(self._runs.artifact, where["step"], where["n"])
        name = f"artifact-{where['n']}.{where['form']}"
        content: bytes | None = None
        if where["form"] == "json":
            content = dumps(found)
        elif where["form"] == "csv":
            rows = sheet(found["type"], found["data"])
            content = None if rows is None else rows.encode()
        if content is None:
            raise Refused(404, "not_found", "The artifact has no such form.")
        kind = "application/json" if where["form"] == "json" else "text/csv; charset=utf-8"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(content, media_type=kind, headers=headers)

    async def _codes(self, request: Request) -> Response:
        hours = number(request.query_params.get("hours", "24"), 1, int(_HOURS))
        return answer(await asyncio.to_thread(self._runs.codes, float(hours)))

    async def _live(self, _: Request) -> Response:
        self._stream.refuse_more()
        return StreamingResponse(self._stream.lines(), media_type="application/x-ndjson")

    # -- calling ----------------------------------------------------------------------------------

    async def _preview(self, request: Request) -> Response:
        said = await body_of(request)
        fresh = said.get("fresh") is True
        return answer(await self._playground.preview(*_call_in(said), fresh=fresh))

    async def _call(self, request: Request) -> Response:
        said = await body_of(request)
        digest = said.get("digest")
        if digest is not None and not isinstance(digest, str):
            raise Refused(400, "invalid_arguments", "digest: expected text.")
        step = await self._playground.call(*_call_in(said), digest, fresh=said.get("fresh") is True)
        found = self._seen.entry(step.id)
        if found is None:
            raise Refused(503, "unavailable", "The step had to make room at once.")
        return answer({"step": _rows.step_detail(*found)})

    # -- deciding ---------------------------------------------------------------------------------

    async def _waiting(self, _: Request) -> Response:
        return answer(await asyncio.to_thread(self._deciding.all))

    async def _waiting_run(self, request: Request) -> Response:
        return answer(await asyncio.to_thread(self._deciding.one, request.path_params["run"]))

    async def _waiting_part(self, request: Request) -> Response:
        where = request.path_params
        start = number(request.query_params.get("from", "0"), 0, 2**53)
        run_id, position = where["run"], where["position"]
        return answer(await asyncio.to_thread(self._deciding.part, run_id, position, start))

    async def _revise(self, request: Request) -> Response:
        said = await body_of(request)
        position, arguments = said.get("position"), said.get("arguments_json")
        if type(position) is not int or not (arguments is None or isinstance(arguments, str)):
            raise Refused(400, "invalid_arguments", "Expected run, position and arguments_json.")
        run_id = text_in(said, "run")
        return answer(await asyncio.to_thread(self._deciding.revised, run_id, position, arguments))

    async def _decide(self, request: Request) -> Response:
        said = await body_of(request)
        decision = self._deciding.decision(said)
        return answer(await self._deciding.decide(text_in(said, "run"), decision))


def _call_in(said: dict[str, Any]) -> tuple[str, str, str]:
    """Return tool, arguments and zone of a call that the page asks for."""
    arguments, zone = text_in(said, "arguments_json", "{}"), text_in(said, "zone", "local")
    return text_in(said, "tool"), arguments, zone


def _pages() -> Iterable[tuple[str, tuple[str, bytes]]]:
    """Give the files of the page by name, with their types; they are read once."""
    for file in resources.files("toolseam_plugins.inspector").joinpath("static").iterdir():
        kind = _FILES.get(f".{file.name.rpartition('.')[2]}")
        if kind is not None:
            yield file.name, (kind, file.read_bytes())
