"""S8: secrets that stand beside what a tool may read do not leave with it."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest

from builtin_tools.conftest import plenty_of_time
from support.databases import everything, sqlite_workspace
from support.doors import FILES
from support.ground import (
    ADMIN,
    ELSEWHERE,
    EXAMPLES,
    REFUSALS,
    SITE,
    WRITERS,
    Ground,
    builtins,
    ground,
    planted,
)
from support.links import flipping
from toolseam import Host, Zone
from toolseam._trust import trust_workspace
from toolseam.testing import canary, harness
from toolseam_builtin.code import read_source, search_code
from toolseam_builtin.configuration import get_config
from toolseam_builtin.structure import read_file_meta
from toolseam_builtin.workspace import Workspace

__all__ = ["ground", "planted", "plenty_of_time"]

OUTSIDE = ("linked.txt", "out.txt", "out/secret.txt")
PATHS = [name for name in FILES if "CAN" not in name]
ADDRESSES = (
    "postgresql://app:CAN@127.0.0.1:1/shop?password=CAN&sslpassword=CAN",
    "postgresql://127.0.0.1:1/shop?options=-ctoken%3DCAN&passfile=/CAN",
    "mssql+pyodbc:///?odbc_connect=DRIVER%3Dx%3BPWD%3DCAN",
    "mysql://app:CAN@127.0.0.1:1/shop",
    "sqlite:///app.db?password=CAN",
    "sqlite:////nowhere/password=CAN.db",
)
OF_A_DATABASE = [
    name
    for name, spec in builtins().items()
    if spec.group in {"content", "editing", "structure", "files", "accounts", "rag"}
    if name in EXAMPLES and name not in {"resolve_url", "rag_query"}
] + ["get_system_status", "get_workspace_config"]
ASKING = """
import json, sys
from toolseam import Actor, Host
with Host.load(sys.argv[1], operator_file=sys.argv[2]) as host:
    for name in json.loads(sys.argv[3]):
        result = host.call(name, {}, actor=Actor("ada", {"admin"}))
        print(name, result.content, result.data.value if result.data else "", result.artifacts)
"""


def test_there_is_a_question_for_each_builtin() -> None:
    """Only those that are made to show what is there unmasked are left out."""
    names = set(builtins())

    assert names - set(EXAMPLES) == {"get_env_raw", "get_python_info_raw", "list_users_raw"}
    assert set(EXAMPLES) <= names


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_plain_question_is_answered_without_the_secret(ground: Ground, name: str) -> None:
    """Each tool has an answer for an administrator, and the secret is in no part of it."""
    result = ground.call(name, EXAMPLES[name])

    if name in WRITERS:
        assert result.failure is not None
        assert result.failure.code == "approval_denied"
        assert not ground.preview(name, EXAMPLES[name])[0].startswith("(")
    else:
        assert result.success


@pytest.mark.parametrize("path", [*PATHS, "toolseam.toml", "logs/app.log.1.gz", *OUTSIDE])
def test_each_file_is_refused_or_masked(ground: Ground, path: str) -> None:
    """Read, searched, parsed, described or listed, no file of the workspace gives the secret."""
    storage_path = path.removeprefix("media/")
    told = [
        ground.call("read_source", {"path": path, "lines": 200}),
        ground.call("search_code", {"pattern": ".", "regex": True, "path": path}),
        ground.call("get_config", {"file": path}),
        ground.call("check_config", {"file": path}),
        ground.call("list_scheduled_tasks", {"file": path}),
        ground.call("read_file_meta", {"file": storage_path}),
        ground.call("browse_folder", {"folder": storage_path}),
        ground.call("get_file_references", {"file": storage_path}),
        ground.call("resolve_template", {"name": path.removeprefix("templates/")}),
        ground.call("rag_fetch_source", {"source_id": path}),
        ground.call("fetch_logs", {"source": path}),
    ]

    for result in told:
        # What cannot be parsed is said by the tool that was asked to.
        expected = {*REFUSALS, "execution_error"} if path.startswith("broken") else REFUSALS
        assert result.failure is None or result.failure.code in expected


@pytest.mark.parametrize(
    "path", ["out", "out/..", "docs/out", "media/out", "templates/out", ".git"]
)
def test_no_folder_leads_out(ground: Ground, path: str) -> None:
    """A link to a folder outside, and a hidden folder, are refused alike by whatever walks."""
    for name, argument in (("search_code", "path"), ("browse_folder", "folder")):
        more = {"pattern": ".", "regex": True} if name == "search_code" else {}
        result = ground.call(name, {argument: path, **more})

        assert result.failure is not None
        assert result.failure.code in {"permission_denied", "not_found"}


@pytest.mark.parametrize("address", [SITE, ELSEWHERE])
def test_a_probed_page_gets_and_gives_no_secret(ground: Ground, address: str) -> None:
    """Cookies, the query of a redirect and the body come masked; nothing of ours is sent along."""
    result = ground.call("probe_url", {"url": address})

    assert "set-cookie: sessionid=[masked]" in result.content
    heard = "".join(ground.site.heard + ground.elsewhere.heard)
    assert "GET / HTTP/1.1" in heard
    assert "authorization" not in heard.lower()
    assert not ground.leaks(heard)


def test_what_a_tool_raised_earlier_is_not_told_later(ground: Ground) -> None:
    """The text of an exception is not in the host's log, which the tools for logs may read."""
    log = logging.FileHandler(ground.folder / "logs" / "host.log")
    logging.getLogger("toolseam").addHandler(log)
    try:
        failed = ground.call("explode", {})
    finally:
        logging.getLogger("toolseam").removeHandler(log)
        log.close()

    assert failed.failure is not None
    assert "ConnectionError" in (ground.folder / "logs" / "host.log").read_text()
    assert not ground.leaks((ground.folder / "logs" / "host.log").read_bytes())
    for name in ("fetch_logs", "get_last_exception", "list_deprecations"):
        assert ground.call(name, {}).success


def test_the_words_of_the_process_are_not_told(ground: Ground) -> None:
    """Words and options of the host's own command line are in no answer about the machine."""
    names = ["get_env", "get_system_status", "get_python_info", "list_packages", "get_settings"]
    words = [str(ground.folder), str(ground.folder.parent / "config.toml"), json.dumps(names)]
    secret = ground.secret.text
    options = [f"-Xapi_token={secret}", f"-Wignore:password={secret}"]
    done = subprocess.run(
        [sys.executable, *options, "-c", ASKING, *words, "--password", secret],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert all(name in done.stdout for name in names)
    assert not ground.leaks(done.stdout)


@pytest.mark.parametrize("address", ADDRESSES)
def test_the_address_of_a_database_is_not_told(tmp_path: Path, address: str) -> None:
    """Whatever is wrong with a database, its address shows no more than scheme, host and name."""
    secret = canary()
    (tmp_path / "toolseam.toml").write_text(
        f'[workspace]\ndatabase = "{address.replace("CAN", secret.text)}"\n'
    )
    operator = tmp_path.parent / f"{tmp_path.name}.toml"
    enabled = ", ".join(f'"{name}"' for name in WRITERS)
    operator.write_text(f'enable = [{enabled}]\n[tables]\nallow = ["*"]\n')
    trust_workspace(tmp_path, config=operator)

    with Host.load(tmp_path, operator_file=operator) as host:
        for name in OF_A_DATABASE:
            result = host.call(name, EXAMPLES[name], actor=ADMIN)

            assert not secret.is_in(everything(result), repr(result)), (name, everything(result))
            assert result.success or result.failure is not None
            assert result.failure is None or result.failure.code in {*REFUSALS, "approval_denied"}


def test_a_secret_in_plain_text_goes_to_no_zone(tmp_path: Path) -> None:
    """A cell that holds an address with its password shows none of it, on this machine neither."""
    secret = canary()
    script = f"create table note (id integer primary key, title text);\
        insert into note values (1, 'see https://app:{secret.text}@host/x')"
    sqlite_workspace(tmp_path, script)
    operator = tmp_path / "operator.toml"
    operator.write_text('[tables]\nallow = ["note"]\n')

    with Host.load(tmp_path, operator_file=operator) as host:
        for zone in Zone:
            session = host.session(actor=ADMIN, zone=zone)
            text, step = session.call_wire("read_records", {"table": "note"})
            assert step.status == "ok"
            assert "[masked]@host/x" in text
            assert not secret.is_in(text)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (read_source, {"path": "flip/x.toml"}),
        (search_code, {"pattern": ".", "regex": True}),
        (get_config, {"file": "flip/x.toml"}),
        (read_file_meta, {"file": "flip/x.toml"}),
    ],
)
def test_a_link_that_flips_while_it_is_read_gives_nothing(
    tmp_path: Path, tool: object, arguments: dict[str, object]
) -> None:
    """Reads through a link that points inside and outside in turn stay inside."""
    secret, folder = canary(), tmp_path / "shop"
    for name, text in ((tmp_path / "outside", f"{secret.text}-long"), (folder / "inside", "fine")):
        name.mkdir(parents=True)
        (name / "x.toml").write_text(f'a = "{text}"\n')
    workspace = Workspace(folder=folder, config_files=("flip/x.toml",))
    outer = (tmp_path / "outside" / "x.toml").stat().st_size

    with (
        flipping(folder / "flip", "inside", "../outside"),
        harness(tool, settings=workspace) as double,
    ):
        results = [double.call(arguments) for _ in range(100)]
        # How often a read falls between two flips is a matter of luck.
        while not any(result.success for result in results) and len(results) < 3_000:
            results.append(double.call(arguments))

    seen = [everything(result) for result in results]
    assert not secret.is_in(*seen)
    assert not any(f"{outer} bytes" in text for text in seen)
    assert any(result.success for result in results)
