"""No generic serialiser gives away a run-only value (contract §1)."""

import base64
import io
import json
import logging
import pickle
import pprint
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import attrs
import cattrs
import cloudpickle
import dill
import jsonpickle
import msgspec
import orjson
import pydantic_core
import pytest
import yaml
from rich.console import Console
from rich.pretty import Pretty, pretty_repr

from toolseam import ToolArtifact, ToolError, ToolResult

CANARY = 'canary "tulip" é'
# What of it would still be recognised: plain, JSON-escaped, base64, and without its odd parts.
TRACES = (
    "canary",
    "tulip",
    base64.b64encode(b"canary").decode()[:7],
    base64.b64encode(CANARY.encode()).decode()[4:-4],
)


@dataclass
class Holder:
    """A dataclass that somebody puts a value into."""

    held: Any


@attrs.frozen
class Box:
    """An attrs class that somebody puts a value into."""

    held: Any


VALUES: dict[str, Callable[[], Any]] = {
    "data": lambda: ToolResult.text("ok", data={"k": CANARY, CANARY: [CANARY]}),
    "text data": lambda: ToolResult.text("ok", data=CANARY),
    "metadata": lambda: ToolResult.text("ok", metadata={"k": CANARY, CANARY: 1}),
    "failure metadata": lambda: ToolResult.error("no", metadata={"k": CANARY}),
    "artifact label": lambda: ToolResult.text("ok", ToolArtifact.text(CANARY, "x")),
    "artifact text": lambda: ToolResult.text("ok", ToolArtifact.text("l", CANARY)),
    "table cell": lambda: ToolResult.text("ok", ToolArtifact.table("l", ["a"], [[CANARY]])),
    "table column": lambda: ToolResult.text("ok", ToolArtifact.table("l", [CANARY], [["x"]])),
    "faulty table": lambda: ToolResult.text("ok", ToolArtifact.table(CANARY, [CANARY], [[]])),
    "lone table": lambda: ToolArtifact.table(CANARY, [CANARY], [[CANARY]]),
    "lone text": lambda: ToolArtifact.text(CANARY, CANARY),
    "lone by hand": lambda: ToolArtifact("text", CANARY, {"text": CANARY}),
    "lone error": lambda: ToolError("no", metadata={"k": CANARY}),
    "lone data": lambda: ToolResult.text("ok", data=[CANARY]).data,
    "lone artifacts": lambda: ToolResult.text("ok", ToolArtifact.text(CANARY, CANARY)).artifacts,
}


def logged(value: Any) -> str:
    """Log a value at every level in every usual way, and read what was written."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s %(held)s"))
    # A record that cannot be written is reported here as well, instead of on stderr.

    def report(record: logging.LogRecord) -> None:
        stream.write(f"{record.__dict__!r} {traceback.format_exc()}")

    handler.handleError = report  # type: ignore[method-assign]
    logger = logging.Logger("one of the tests", level=1)  # noqa: LOG001 - private on purpose
    logger.addHandler(handler)
    for level in (1, 10, 20, 30, 40, 50):
        for pattern in ("%s", "%r", "%.9s"):
            logger.log(level, pattern, value, extra={"held": value})
        logger.log(level, "%(held)s", {"held": value}, extra={"held": repr(value)})
        logger.log(level, value, extra={"held": ""})
    return stream.getvalue()


def traceback_of(value: Any) -> str:
    """Format a traceback with the local names of a frame that holds a value."""

    def fail(held: Any) -> None:
        copies = [held, (held,), {"k": held}]
        raise RuntimeError(len(copies))

    try:
        fail(value)
    except RuntimeError as error:
        report = traceback.TracebackException.from_exception(error, capture_locals=True)
        return "".join(report.format())
    return ""


def raised(value: Any) -> str:
    """Format what a raise of a value, or of an error that names it, looks like."""
    error = value if isinstance(value, BaseException) else RuntimeError(value)
    return "".join(traceback.format_exception(error)) + repr(error) + str(error.args)


def rich_console(value: Any) -> str:
    """Print a value with rich, as text and expanded."""
    console = Console(file=io.StringIO(), width=200)
    console.print(Pretty(value, expand_all=True), [value], {"k": value})
    console.log("held", Pretty(value), log_locals=True)
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def printed_by_rich(value: Any) -> str:
    """Print a value with rich as it is; a result refuses to be a text."""
    console = Console(file=io.StringIO(), width=200)
    console.print(value)
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def slots(value: Any) -> Any:
    """Open a value by its slots, as a home-made encoder does."""
    names = [n for kind in type(value).__mro__ for n in getattr(kind, "__slots__", ())]
    return {name: getattr(value, name) for name in names if not name.startswith("__")}


def members(value: Any) -> Any:
    """Open a value by its attrs fields."""
    return attrs.asdict(value)


SINKS: dict[str, Callable[[Any], object]] = {
    "json": json.dumps,
    "json default=str": lambda v: json.dumps(v, default=str),
    "json default=repr": lambda v: json.dumps(v, default=repr),
    "json default=vars": lambda v: json.dumps(v, default=vars),
    "json default=asdict": lambda v: json.dumps(v, default=members),
    "json default=slots": lambda v: json.dumps(v, default=slots),
    "attrs.asdict, json": lambda v: json.dumps(attrs.asdict(v)),
    "attrs.asdict, json default=str": lambda v: json.dumps(attrs.asdict(v), default=str),
    "attrs.astuple, json": lambda v: json.dumps(attrs.astuple(v)),
    "attrs.asdict, repr": lambda v: repr(attrs.asdict(v)),
    "cattrs, json": lambda v: json.dumps(cattrs.unstructure(v)),
    "cattrs, json default=str": lambda v: json.dumps(cattrs.unstructure(v), default=str),
    "cattrs, repr": lambda v: repr(cattrs.unstructure(v)),
    "cattrs as tuple, repr": lambda v: repr(
        cattrs.Converter(unstruct_strat=cattrs.UnstructureStrategy.AS_TUPLE).unstructure(v)
    ),
    "orjson": orjson.dumps,
    "orjson default=str": lambda v: orjson.dumps(v, default=str),
    "orjson default=repr": lambda v: orjson.dumps(v, default=repr),
    "orjson default=asdict": lambda v: orjson.dumps(v, default=members),
    "msgspec json": msgspec.json.encode,
    "msgspec json enc_hook=str": lambda v: msgspec.json.encode(v, enc_hook=str),
    "msgspec msgpack": msgspec.msgpack.encode,
    "msgspec yaml": msgspec.yaml.encode,
    "msgspec to_builtins": lambda v: repr(msgspec.to_builtins(v, enc_hook=repr)),
    "pydantic": pydantic_core.to_json,
    "pydantic serialize_unknown": lambda v: pydantic_core.to_json(v, serialize_unknown=True),
    "pydantic fallback=str": lambda v: pydantic_core.to_json(v, fallback=str),
    "pydantic fallback=repr": lambda v: pydantic_core.to_json(v, fallback=repr),
    "pydantic to_jsonable": lambda v: repr(
        pydantic_core.to_jsonable_python(v, serialize_unknown=True)
    ),
    "yaml": yaml.dump,
    "yaml safe": yaml.safe_dump,
    "yaml unsafe": lambda v: yaml.dump(v, Dumper=yaml.Dumper),
    **{
        f"pickle {p}": lambda v, p=p: pickle.dumps(v, p)  # type: ignore[misc]
        for p in range(pickle.HIGHEST_PROTOCOL + 1)
    },
    "cloudpickle": cloudpickle.dumps,
    "dill": dill.dumps,
    "dill recurse": lambda v: dill.dumps(v, recurse=True),
    "jsonpickle": lambda v: jsonpickle.encode(v, keys=True),
    "jsonpickle plain": lambda v: jsonpickle.encode(v, unpicklable=False, keys=True),
    "jsonpickle without references": lambda v: jsonpickle.encode(v, make_refs=False, keys=True),
    "pprint": lambda v: pprint.pformat([v, {"k": v}], width=20),
    "rich pretty_repr": lambda v: pretty_repr([v, {"k": v}], expand_all=True),
    "rich console": rich_console,
    "rich print": printed_by_rich,
    "logging": logged,
    "f-string": lambda v: f"{v}",
    "f-string with width": lambda v: f"{v:>200}",
    "f-string of a container": lambda v: f"{[v]} {v!r} {v!a}",
    "percent": lambda v: "%s %r" % (v, v),  # noqa: UP031 - is what is asked about
    "str": str,
    "bytes": bytes,
    "repr": repr,
    "ascii": ascii,
    "vars": lambda v: repr(vars(v)),
    "traceback with locals": traceback_of,
    "raised": raised,
    "repr of containers": lambda v: repr([v, (v,), {"k": v}, Holder(v), Box(v)]),
    "attrs.asdict of a container": lambda v: repr(attrs.asdict(Box([v]))),
}


def written(sink: Callable[[Any], object], value: Any) -> str:
    """Give what a sink writes of a value, or of an error, in which it may quote."""
    try:
        output = sink(value)
    except Exception as error:
        return f"{error!r} {error.args!r} {error}"
    if isinstance(output, bytes | bytearray):
        return output.decode("utf-8", "replace") + output.decode("utf-16", "ignore")
    return str(output)


@pytest.fixture(params=VALUES)
def value(request: pytest.FixtureRequest) -> Any:
    """One value that holds the canary where no provider may see it."""
    return VALUES[request.param]()


@pytest.mark.parametrize("sink", SINKS)
def test_a_sink_refuses_or_writes_no_trace_of_it(value: Any, sink: str) -> None:
    """Each serialiser gives an error, or a text without the canary in any spelling."""
    for held in (value, [value], {"k": value}):
        text = written(SINKS[sink], held)

        assert not [trace for trace in TRACES if trace in text]


@pytest.mark.parametrize("sink", SINKS)
def test_a_sink_would_show_the_canary_of_an_open_value(sink: str) -> None:
    """The matrix can see: handed the plain value, a sink that writes at all writes the canary."""
    open_values = (Box({"k": CANARY}), Holder(CANARY), {"k": CANARY}, CANARY, CANARY.encode())
    plain = [written(SINKS[sink], value) for value in open_values]

    assert any(trace in text for trace in TRACES for text in plain)


def test_the_projects_own_encoder_is_the_one_way_out() -> None:
    """What the serialisers refuse is there, for whoever asks the owner."""
    result = VALUES["data"]()

    assert result.data["k"] == CANARY
    assert result.data.value == {"k": CANARY, CANARY: [CANARY]}
