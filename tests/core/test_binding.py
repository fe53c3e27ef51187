import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

import attrs
import pytest

from support.tools import Counted, fine, plugin, spec
from toolseam import Host, ToolResult, ToolSpec, hookimpl
from toolseam._binding import BoundTool, bind, names_of
from toolseam._errors import LoadError, SpecError


def bound(given: object, name: str | None = None) -> BoundTool:
    """Bind a plugin as the registry does."""
    return bind(given, name=name, distribution="acme", version="1")


def refused(given: object, name: str | None = None) -> str:
    """Return the reason for which a plugin is refused at load."""
    with pytest.raises(LoadError) as error:
        bound(given, name)
    return str(error.value)


def with_execute(execute: Any) -> Any:
    """Return a plugin with this very object as its execute."""
    return types.SimpleNamespace(tool_spec=hookimpl(lambda: spec()), execute=execute)


def test_what_only_names_arguments_gets_only_them() -> None:
    """The context is passed to those who name it, and made for nobody else."""
    plain = bound(plugin(lambda arguments: fine()))
    asking = bound(plugin(lambda arguments, context: fine()))

    assert (plain.wants_context, asking.wants_context) == (False, True)


def keyword_only(arguments: object, *, context: object) -> ToolResult:
    """Ask for the context by keyword alone."""
    return fine()


def stars(*arguments: object) -> ToolResult:
    """Take what comes."""
    return fine()


def double_stars(**arguments: object) -> ToolResult:
    """Take what comes by name."""
    return fine()


def positional_only(arguments: object, /) -> ToolResult:
    """Take one by position."""
    return fine()


def extra(arguments: object, confirm: object) -> ToolResult:
    """Ask for more than there is."""
    return fine()


def nothing() -> ToolResult:
    """Take nothing."""
    return fine()


def backwards(context: object, arguments: object) -> ToolResult:
    """Take both in the other order."""
    return fine()


@pytest.mark.parametrize(
    ("execute", "fact"),
    [
        (keyword_only, "keyword-only"),
        (stars, "*arguments"),
        (double_stars, "**arguments"),
        (positional_only, "positional-only"),
        (extra, "'confirm'"),
        (nothing, "'arguments' first"),
        (backwards, "'arguments' first"),
    ],
)
def test_parameters_that_pluggy_would_not_serve_are_refused(
    execute: Callable[..., Any], fact: str
) -> None:
    """A parameter that would stay empty, or is unknown, is named at load."""
    assert fact in refused(plugin(execute))


class Callable_:  # noqa: N801
    """An object that can be called."""

    def __call__(self, arguments: object) -> ToolResult:
        """Return a result."""
        return fine()


@pytest.mark.parametrize(
    "execute",
    [hookimpl(functools.partial(extra, confirm=1)), hookimpl(Callable_())],
    ids=["partial", "callable object"],
)
def test_what_pluggy_skips_in_silence_is_refused(execute: Any) -> None:
    """Only functions and methods are called; everything else says so at load."""
    assert "functions only" in refused(with_execute(execute))


def test_a_misspelt_hook_is_refused_with_the_near_miss() -> None:
    """A mark on a name that is no hook is a typing error, not a private function."""
    made = plugin(lambda arguments: fine())
    made.exceute = hookimpl(lambda arguments: fine())

    assert "did you mean 'execute'" in refused(made)


def test_a_mark_on_something_else_lists_the_hooks() -> None:
    """Where nothing is near, the hooks that exist are named."""
    made = plugin(lambda arguments: fine())
    made.zzz = hookimpl(lambda arguments: fine())

    assert "tool_spec, execute, preview" in refused(made)


def test_a_second_implementation_is_refused() -> None:
    """pluggy would skip a None of the first and run the second."""
    made = plugin(lambda arguments: fine())
    made.again = hookimpl(specname="execute")(lambda arguments: fine())

    assert "execute twice" in refused(made)


def test_a_specname_alone_is_fine() -> None:
    """One implementation under a name of its own is one implementation."""
    made = types.SimpleNamespace(
        describe=hookimpl(specname="tool_spec")(lambda: spec()),
        work=hookimpl(specname="execute")(lambda arguments: fine()),
    )

    assert bound(made).execute(arguments={}, context=None).content == "fine"


def decorated(function: Callable[..., Any], *, honest: bool) -> Callable[..., Any]:
    """Wrap a function, with or without its signature."""

    def call(*args: Any, **named: Any) -> Any:
        return function(*args, **named)

    return functools.wraps(function)(call) if honest else call


def test_a_decorator_that_names_what_it_wraps_is_fine() -> None:
    """pluggy looks through functools.wraps, and so do we."""
    made = plugin(decorated(lambda arguments, context: fine(), honest=True))

    tool = bound(made)
    assert tool.wants_context
    assert tool.execute(arguments={}, context=None).content == "fine"


def test_a_decorator_that_hides_the_parameters_is_refused() -> None:
    """Behind *args pluggy would pass nothing."""
    assert "*args" in refused(plugin(decorated(lambda arguments: fine(), honest=False)))


def test_a_decorator_that_hides_async_is_refused() -> None:
    """The seam must know at load whether it has to await."""

    async def execute(arguments: object) -> ToolResult:
        return fine()

    assert "async" in refused(plugin(decorated(execute, honest=True)))


@pytest.mark.parametrize("kind", ["generator", "async generator"])
@pytest.mark.parametrize("hidden", [False, True])
def test_generators_are_refused(kind: str, hidden: bool) -> None:
    """A tool returns one value, also behind a decorator."""

    def generator(arguments: object) -> Any:
        yield fine()

    async def stream(arguments: object) -> Any:
        yield fine()

    execute: Any = generator if kind == "generator" else stream
    assert "generator" in refused(plugin(decorated(execute, honest=True) if hidden else execute))


def test_only_execute_may_be_async() -> None:
    """A specification or a preview that has to be awaited is refused at load."""

    async def later(arguments: object, context: object) -> ToolResult:
        return fine()

    async def describe() -> ToolSpec:
        return spec()

    with_preview = plugin(lambda arguments: fine(), preview=later)
    with_spec = types.SimpleNamespace(
        tool_spec=hookimpl(describe), execute=hookimpl(lambda arguments: fine())
    )

    assert "preview is async" in refused(with_preview)
    assert "tool_spec is async" in refused(with_spec)


def test_a_class_is_refused_for_its_instance() -> None:
    """Naming the class is the usual slip; the reason names the way out."""
    assert "name an instance" in refused(Counted)


@pytest.mark.parametrize("missing", ["tool_spec", "execute"])
def test_both_hooks_are_needed(missing: str) -> None:
    """A plugin without one of them, or without the mark on it, is refused."""
    made = plugin(lambda arguments: fine())
    delattr(made, missing)
    assert f"no {missing}" in refused(made)

    setattr(made, missing, lambda *_: fine())
    assert "@hookimpl" in refused(made)


def raising(error: BaseException) -> Callable[[], ToolSpec]:
    """Return a tool_spec that raises."""

    def describe() -> ToolSpec:
        raise error

    return describe


@pytest.mark.parametrize(
    ("describe", "fact"),
    [
        (raising(KeyError("sk-secret")), "KeyError"),
        (raising(SystemExit(3)), "SystemExit"),
        (raising(SpecError("tool 'x': name: bad")), "name: bad"),
        (lambda: None, "NoneType"),
        (lambda: {"name": "probe"}, "dict"),
        (lambda: spec, "function"),
    ],
)
def test_a_specification_that_fails_refuses_the_plugin(describe: Any, fact: str) -> None:
    """Whatever tool_spec raises or returns in the place of a ToolSpec becomes the reason."""
    made = plugin(lambda arguments: fine())
    made.tool_spec = hookimpl(describe)

    said = refused(made)
    assert fact in said
    assert "sk-secret" not in said


def test_ctrl_c_in_a_specification_is_the_persons() -> None:
    """The person at the keyboard stops the host, not the plugin."""
    made = plugin(lambda arguments: fine())
    made.tool_spec = hookimpl(raising(KeyboardInterrupt()))

    with pytest.raises(KeyboardInterrupt):
        bound(made)


def test_entry_point_and_specification_have_one_name() -> None:
    """A name that differs is refused with both names (H39)."""
    said = refused(plugin(lambda arguments: fine(), name="greet"), name="read_records")

    assert "'read_records'" in said
    assert "'greet'" in said


def test_the_specification_is_asked_once() -> None:
    """What tool_spec said at load counts, whatever it would say later."""
    asked = []

    def describe() -> ToolSpec:
        asked.append(1)
        return spec()

    made = plugin(lambda arguments: fine())
    made.tool_spec = hookimpl(describe)
    host = Host(tools=[made])
    host.call("probe")
    host.tools()

    assert len(asked) == 1


def test_a_wrapper_is_no_tool() -> None:
    """Wrappers belong to the other group, and the reason says to which."""

    def execute(arguments: object) -> Any:
        return (yield)

    made = with_execute(hookimpl(wrapper=True)(execute))
    assert "toolseam.plugins" in refused(made)


@attrs.frozen
class Equal:
    """Two of them are equal, as attrs makes it."""

    kind: str = attrs.field(eq=False)

    @hookimpl
    def tool_spec(self) -> ToolSpec:
        """Return a specification of its own."""
        return spec(self.kind)

    @hookimpl
    def execute(self, arguments: object) -> ToolResult:
        """Say who it is."""
        return ToolResult.text(self.kind)


@attrs.define(eq=True, unsafe_hash=False)
class Unhashable(Equal):
    """The same, and no member of any set."""


@pytest.mark.parametrize("kind", [Equal, Unhashable])
def test_equal_plugins_stay_two(kind: type[Equal]) -> None:
    """Plugins are told apart by identity, never by equality."""
    host = Host(tools=[kind("one"), kind("two")])

    assert [host.call(n).content for n in ("one", "two")] == ["one", "two"]


def test_a_module_is_a_plugin() -> None:
    """The functions of a module are hooks like the methods of an object."""
    module = types.ModuleType("acme_greet")
    module.tool_spec = hookimpl(lambda: spec("greet"))  # type: ignore[attr-defined]
    module.execute = hookimpl(lambda arguments: fine())  # type: ignore[attr-defined]

    assert Host(tools=[module]).call("greet").content == "fine"


class Static:
    """Hooks as static and class methods."""

    @staticmethod
    @hookimpl
    def execute(arguments: object) -> ToolResult:
        """Return a result."""
        return fine()

    @classmethod
    @hookimpl
    def tool_spec(cls) -> ToolSpec:
        """Return the specification."""
        return spec()


def test_static_methods_are_functions() -> None:
    """A method is called as it is bound."""
    assert Host(tools=[Static()]).call("probe").content == "fine"


class Moody:
    """Stands for a proxy of a web framework: whatever is asked of it raises."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("outside of a request")


class Bad:
    """A property that ends the interpreter."""

    @property
    def tempting(self) -> Any:
        """Leave."""
        raise SystemExit(3)


def test_what_stands_beside_the_hooks_cannot_hurt() -> None:
    """Proxies and properties that raise when they are looked at are no hooks."""
    made = plugin(lambda arguments: fine())
    made.request = Moody()
    mixed = type("Mixed", (Counted, Bad), {})(fine)

    assert bound(made).name == "probe"
    assert bound(mixed).name == "probe"


@pytest.mark.parametrize("stated", ["1", None])
def test_a_plugin_may_state_its_contract(stated: str | None) -> None:
    """Contract 1 is spoken, and absent means it."""
    made = plugin(lambda arguments: fine())
    if stated:
        made.toolseam_api = stated

    assert Host(tools=[made]).call("probe").content == "fine"


def test_a_contract_of_the_future_is_refused_before_its_hooks_run() -> None:
    """Also a plugin that code hands over is held to the contract it states (P17)."""
    asked = []
    made = plugin(lambda arguments: fine())
    made.tool_spec = hookimpl(lambda: asked.append(1))
    made.toolseam_api = "99"

    assert "99" in refused(made)
    assert not asked


def test_a_signature_that_cannot_be_read_is_a_reason() -> None:
    """Whatever a decorator put in its place."""

    def execute(arguments: object) -> ToolResult:
        return fine()

    execute.__signature__ = "nonsense"  # type: ignore[attr-defined]

    assert "no signature" in refused(plugin(execute))


class Methods:
    """Hooks in a class: with an instance, with the class, with neither."""

    @hookimpl
    def execute(self, arguments: object, context: object) -> ToolResult:
        """Take both."""
        return fine()

    @classmethod
    def of_class(cls, arguments: object) -> ToolResult:
        """Take one."""
        return fine()

    @staticmethod
    def of_neither(context: object) -> ToolResult:
        """Take the other."""
        return fine()


@pytest.mark.parametrize(
    "function",
    [
        hookimpl(lambda arguments, context=None: (arguments, context)),
        lambda: None,
        Methods().execute,
        Methods.of_class,
        Methods().of_neither,
        types.MethodType(lambda *given: given, 1),
        functools.wraps(Methods().execute)(lambda *given: given),
        stars,
        double_stars,
        keyword_only,
        positional_only,
    ],
)
def test_names_at_a_glance_are_those_of_the_signature(function: Callable[..., Any]) -> None:
    """What spares a plain function `inspect` finds what `inspect` would."""
    assert names_of(function) == tuple(inspect.signature(function).parameters)


def test_a_method_without_a_place_for_its_instance_is_refused() -> None:
    """Which no call could serve."""
    method = types.MethodType(hookimpl(lambda: fine()), 1)

    assert "no signature" in refused(with_execute(method))
