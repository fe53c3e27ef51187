import configparser
import json
import math
import sys
import time
import tomllib
from typing import Any

import pytest
import yaml
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from toolseam_builtin._config._dotenv import SET, parse_dotenv
from toolseam_builtin._config._ini import parse_ini
from toolseam_builtin._config._json import parse_json
from toolseam_builtin._config._model import Broken, Written
from toolseam_builtin._config._python import EXPRESSION, parse_python
from toolseam_builtin._config._shown import told
from toolseam_builtin._config._toml import parse_toml
from toolseam_builtin._config._yaml import parse_yaml
from toolseam_builtin._config._yaml_scalars import resolve

LATER = math.inf


def bare(value: Any) -> Any:
    """Return a parsed value with what is shown otherwise replaced by its value."""
    if isinstance(value, Written):
        return value.value
    if isinstance(value, dict):
        return {key: bare(each) for key, each in value.items()}
    return [bare(each) for each in value] if isinstance(value, list) else value


def outcome(parse: Any, *arguments: Any) -> str:
    """Say whether a text is read, or the kind of its fault."""
    try:
        json.dumps(bare(parse(*arguments).value))
    except Broken as broken:
        return broken.finding.kind
    return "read"


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
)
documents = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=10,
)
JUNK = st.text("ab:-#[]{},&*!|>'\"%@`\\ \n\t.=01~<é\x00\x85\u2028", max_size=40)


@given(documents, st.sampled_from([None, 0, 2]))
def test_json_reads_what_json_writes(value: Any, indent: int | None) -> None:
    """Whatever JSON holds is read as the standard library reads it, with no finding."""
    parsed = parse_json(json.dumps(value, indent=indent))

    assert bare(parsed.value) == value
    assert parsed.findings.total == 0


@given(
    st.dictionaries(
        st.text("abc", min_size=1, max_size=2), st.lists(st.integers(1, 4), min_size=1, max_size=3)
    )
)
def test_each_doubled_key_of_json_is_found(wanted: dict[str, list[int]]) -> None:
    """A key is told as often as it is set, each time with its own line."""
    sets = [key for key, places in wanted.items() for _ in places]
    text = "{" + ",\n".join(f'"{key}": 1' for key in sets) + "}"
    lines = {key: [n for n, each in enumerate(sets, 1) if each == key] for key in wanted}

    told = {f.text.split("`")[1]: f for f in parse_json(text).findings.kept}

    assert set(told) == {key for key, places in lines.items() if len(places) > 1}
    for key, finding in told.items():
        assert finding.line == lines[key][-1]
        assert all(str(line) in finding.text for line in lines[key])


@given(JUNK)
@example('{"a": "\\ud800"}')
@example("[" * 70)
def test_any_json_is_answered(text: str) -> None:
    """Any text is read, or refused with words that are not of the text."""
    assert outcome(parse_json, text) in {"read", "syntax", "nesting"}


@given(
    st.dictionaries(
        st.from_regex(r"[a-z]{1,4}", fullmatch=True),
        st.integers(-9, 9) | st.booleans() | st.dates() | st.times() | st.datetimes(),
    )
)
def test_toml_agrees_with_the_standard_library(values: dict[str, Any]) -> None:
    """Values are those of `tomllib`, dates as ISO text."""
    text = "".join(
        f"{key} = {str(value).lower() if isinstance(value, bool) else value}\n"
        for key, value in values.items()
    )

    found = bare(parse_toml(text).value)

    for key, value in tomllib.loads(text).items():
        assert found[key] == (value.isoformat() if hasattr(value, "isoformat") else value)


@given(JUNK)
@example("a = 1\r\nb = 2")
@example("a = 1\rb = 2")
@example("a.b = 1\na = 2\n")
def test_any_toml_is_answered(text: str) -> None:
    """Any text is read as `tomllib` does, or refused where it refuses."""
    try:
        tomllib.loads(text)
        sound = True
    except tomllib.TOMLDecodeError:
        sound = False
    try:
        parse_toml(text)
        taken = True
    except Broken:
        taken = False

    assert taken is sound


@pytest.mark.parametrize(
    ("text", "value"),
    [("a = 1.10", 1.1), ("a = nan", "NaN"), ("a = 1e999", "1e999"), ("a = 0xff", 255)],
)
def test_numbers_of_toml_are_json(text: str, value: object) -> None:
    """Floats keep their written form beside their value; what is not finite is text."""
    found = parse_toml(text).value

    assert isinstance(found, dict)
    assert told(found["a"])[1] == value


@given(documents)
def test_yaml_reads_what_pyyaml_writes(value: Any) -> None:
    """Whatever PyYAML dumps is read as it loads it, keys as they are written."""
    text = yaml.safe_dump(value, allow_unicode=True)

    found = parse_yaml(text, LATER)

    assert bare(found.value) == yaml.safe_load(text)


@given(
    st.from_regex(
        r"[-+]?[0-9_.:]{1,8}(?:[eE][-+]?[0-9]{1,2})?|0[xbo][0-9a-f_]{1,4}|[-+]?\.(?:inf|nan)",
        fullmatch=True,
    )
)
@example("0")
@example("-0")
@example("00")
@example("0_")
@example("1_000")
@example("0b")
@example("+12")
@example("190:20:30.15")
@example("1e3")
@example("1.e+3")
@example(".5")
@example("-.5")
@example(".")
def test_numbers_are_what_pyyaml_takes_them_for(text: str) -> None:
    """A bare scalar that looks like a number has PyYAML's value, or is text where that is."""
    try:
        expected = yaml.safe_load(text)
    except (ValueError, yaml.YAMLError):
        expected = None
    assume(expected is not None and not isinstance(expected, dict | list))
    assume(not hasattr(expected, "isoformat"))

    value = bare(resolve(text)[0])

    if isinstance(expected, float) and not math.isfinite(expected):
        assert value == text
    elif isinstance(expected, float):
        assert value == pytest.approx(expected)
    else:
        assert value == expected


@pytest.mark.parametrize(
    "word", ["yes", "No", "ON", "off", "true", "False", "~", "NULL", "y", "n", "=", "<<"]
)
def test_words_are_what_pyyaml_takes_them_for(word: str) -> None:
    """Booleans and nulls are PyYAML's; what it cannot construct is text."""
    expected = word if word in {"=", "<<"} else yaml.safe_load(word)

    assert bare(resolve(word)[0]) == expected


@given(JUNK)
@example("a: &a [1]\nb: *a")
@example("? [a]\n: b")
@example("!!python/object/apply:os.system [ls]")
@example("&a a: *a")
@example("<<: {<<: {a: 1}}")
@example("a: !<tag:x,2000:y> 1")
@example("%YAML 1.1\n---\n- a")
@example("{*a : b}")
def test_any_yaml_is_answered(text: str) -> None:
    """Any text is read, or refused with a kind of ours, by libyaml and by PyYAML's own parser."""
    with pytest.MonkeyPatch.context() as patch:
        fast = outcome(parse_yaml, text, LATER)
        patch.setitem(sys.modules, "yaml.cyaml", None)
        slow = outcome(parse_yaml, text, LATER)

    assert {fast, slow} <= {"read", "syntax", "tab", "nesting", "aliases"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: !Ref foo", {"a": "!Ref foo"}),
        ("a: !Sub {x: 1}", {"a": {"!Sub": {"x": 1}}}),
        ("a: !!python/name:os.system", {"a": "!!python/name:os.system"}),
        ("a: !!python/object/new:x [1]", {"a": {"!!python/object/new:x": [1]}}),
        ("a: !!set {x, y}", {"a": {"x": None, "y": None}}),
        ("a: ! 5", {"a": "5"}),
        ("a: !!int '5'", {"a": 5}),
        ("a: !!binary aGk=", {"a": None}),
        ("? [a, b]\n: 1", {"key of line 1": 1}),
        ("? &k x\n: 1\n*k : 2", {"x": 2}),
        ("~: 1\n8080: 2\n1.5: 3\n2025-01-01: 4", {"~": 1, "8080": 2, "1.5": 3, "2025-01-01": 4}),
        (
            "a: &a {x: 1, y: 1}\nb: &b {y: 2}\nc: {<<: [*b, *a], z: 3}",
            {"a": {"x": 1, "y": 1}, "b": {"y": 2}, "c": {"x": 1, "y": 2, "z": 3}},
        ),
        ("<<: 1", {"<<": 1}),
        ("a: 9e999\nb: 1.5e+400", {"a": "9e999", "b": "1.5e+400"}),
        ("'<<': {a: 1}", {"<<": {"a": 1}}),
        ("d: 2025-02-31", {"d": "2025-02-31"}),
        ("d: 2025-02-03 10:20:30", {"d": "2025-02-03 10:20:30"}),
        ("d: " + "1:" * 60 + "1", {"d": "1:" * 60 + "1"}),
    ],
)
def test_odd_yaml_is_data(text: str, value: object) -> None:
    """Tags, odd keys, merges and dates become plain data; nothing is constructed (H29)."""
    assert bare(parse_yaml(text, LATER).value) == value


def test_without_libyaml_the_same_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyYAML's own parser, where libyaml was not built, gives the same values and findings."""
    text = "a: &a {x: no, y: [1, 'z']}\nb: {<<: *a, w: 0755}\n---\n- !Ref q\n- |\n  text\n"
    fast = parse_yaml(text, LATER)

    monkeypatch.setitem(sys.modules, "yaml.cyaml", None)

    assert parse_yaml(text, LATER) == fast


def test_yaml_stops_in_time() -> None:
    """Where the time is over, reading stops and says so."""
    with pytest.raises(Broken) as caught:
        parse_yaml("- 1\n" * 5000, time.monotonic() - 1)

    assert caught.value.finding.kind == "time"


options = st.dictionaries(
    st.from_regex(r"[a-zA-Z][\w. ]{0,5}\w", fullmatch=True),
    st.lists(st.from_regex(r"[\w%()$.=:]{1,6}", fullmatch=True), max_size=3),
    max_size=4,
)


@given(
    st.dictionaries(st.from_regex(r"[\w. ]{1,6}", fullmatch=True), options, max_size=4),
    st.sampled_from(["=", ": ", " = "]),
)
@settings(max_examples=50)
def test_ini_agrees_with_the_standard_library(
    sections: dict[str, dict[str, list[str]]], sign: str
) -> None:
    """Sections, options and values of several lines are those of `configparser`."""
    text = "".join(
        f"[{name}]\n; a comment\n"
        + "".join(f"{key}{sign}" + "\n\t".join(lines) + "\n\n" for key, lines in values.items())
        for name, values in sections.items()
    )
    parser = configparser.RawConfigParser(strict=False, interpolation=None, default_section="\0")
    parser.optionxform = str  # type: ignore[method-assign, assignment]
    parser.read_string(text)

    assert parse_ini(text).value == {name: dict(parser[name]) for name in parser.sections()}


@given(st.text("ab=:[]; #%\n\t\r", max_size=60))
def test_any_ini_is_answered(text: str) -> None:
    """Any text is read; what is no INI is a finding with its line."""
    parsed = parse_ini(text)

    assert json.dumps(parsed.value)
    assert all(each.line for each in parsed.findings.kept)


values = st.from_regex(
    r"(?:Q[\w ${}=#:/'-]{0,10}|\"Q[\w\n= ]{0,10}\"|'Q[\n\w]{0,9}')", fullmatch=True
)


@given(st.lists(st.tuples(st.sampled_from(["AA", "B_1", "export C"]), values), max_size=5))
def test_of_an_environment_file_no_value_is_kept(pairs: list[tuple[str, str]]) -> None:
    """Names are read in order, values over several lines passed over, and none is kept."""
    parsed = parse_dotenv("".join(f"{name}={value}\n" for name, value in pairs))

    assert isinstance(parsed.value, dict)
    assert list(parsed.value) == list(dict.fromkeys(name.split()[-1] for name, _ in pairs))
    assert set(parsed.value.values()) <= {SET}
    assert "Q" not in f"{parsed.value}{parsed.findings}"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("A=\nB=''\nC=\"\"\nD= # none\n", {"A": "", "B": "", "C": "", "D": ""}),
        ("A='x\nB=1\n'\nC=2\n", {"A": SET, "C": SET}),
        ('A="x\\"\nB=1"\nC=2\n', {"A": SET, "C": SET}),
        ("A='x\nB=1\n", {"A": SET, "B": SET}),
        (
            "A=-----BEGIN PRIVATE KEY-----\nMIIabc=\n-----END PRIVATE KEY-----\nB=1",
            {"A": SET, "B": SET},
        ),
        ("just words\n1A=2\n=3\n# A=1\n", {}),
    ],
)
def test_environment_files_have_their_ways(text: str, names: dict[str, object]) -> None:
    """Quotes, comments, key blocks and lines that are no assignment are understood."""
    assert parse_dotenv(text).value == names


literals = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-99, 99)
    | st.text(max_size=5)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["A", "b", "C1"]), literals))
def test_python_literals_are_read(wanted: dict[str, Any]) -> None:
    """What a module assigns as literals is read as it would be when run."""
    text = "".join(f"{name} = {value!r}\n" for name, value in wanted.items())

    assert bare(parse_python(text).value) == wanted


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A = f()\n", {"A": EXPRESSION}),
        ("A = {'x': 1, 'y': f(), 3: (1, 2)}\n", {"A": {"x": 1, "y": EXPRESSION, "3": [1, 2]}}),
        ("A = {**B}\nC = {f(): 1}\n", {"A": EXPRESSION, "C": EXPRESSION}),
        ("A: int = 5\nB: str\n", {"A": 5}),
        ("A = B = 1\n", {"A": 1, "B": 1}),
        ("A, (B, *C) = 1, 2\n", {"A": EXPRESSION, "B": EXPRESSION, "C": EXPRESSION}),
        ("A = [1]\nA += [2]\n", {"A": EXPRESSION}),
        ("A = {}\nA['x'] = 1\n", {"A": EXPRESSION}),
        ("A = 1\nif f():\n    A = 2\nelse:\n    B = 1\n", {"A": EXPRESSION, "B": EXPRESSION}),
        (
            "try:\n    import x\nexcept E:\n    A = 1\nfinally:\n    B = 1\n",
            {"A": EXPRESSION, "B": EXPRESSION},
        ),
        ("def f():\n    A = 1\nclass C:\n    B = 1\n_X = 1\n", {}),
        ("A = {3, 1}\nB = -1\nC = 1 + 2\n", {"A": [1, 3], "B": -1, "C": EXPRESSION}),
        ("A = b'sk'\nB = {b'sk'}\n", {"A": Written("[2 bytes]", None), "B": EXPRESSION}),
        ("A = {-1: b'sk'}\nB = {(b'sk', 1)}\n", {"A": EXPRESSION, "B": EXPRESSION}),
        ("A = 1e999\n", {"A": "Infinity"}),
        ("__import__('os').abort()\n", {}),
    ],
)
def test_of_python_nothing_is_run(text: str, value: dict[str, object]) -> None:
    """What takes running to know is told as an expression, and only that part."""
    assert parse_python(text).value == value


@given(st.text("A=1[](){}\n'\"#:x, \\", max_size=40))
@pytest.mark.filterwarnings("ignore")
def test_any_python_is_answered(text: str) -> None:
    """Any text is read, or refused with words of ours."""
    assert outcome(parse_python, text) in {"read", "syntax", "nesting"}
