"""`toolseam serve mcp`: what a client gets, and what whoever starts it is told."""

import re
import signal
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.commands import SCRIPT, Running, toolseam
from support.lab import Lab
from support.mcp_http import Place, opened, post, send
from support.mcp_server import Served, call, request, text_of

PRINTS = """\
import os
import sys

print('{"jsonrpc":"2.0","id":0,"result":{}}', flush=True)
os.write(1, b'{"jsonrpc":"2.0","id":0,"result":{}}')
read = sys.stdin.read()
"""


def serve(lab: Lab, workspace: Path, *words: str, **environ: str) -> Served:
    """Begin the command in a workspace."""
    around = lab.environ | environ
    return Served(child=Running("serve", "mcp", *words, cwd=workspace, environ=around))


def test_a_client_gets_the_tools_of_the_workspace(workspace: Path, trusted_lab: Lab) -> None:
    """It lists and calls over standard streams, without the roles of who sits there."""
    program = (SCRIPT, "serve", "mcp")
    with Served(program=program, cwd=workspace, environ=trusted_lab.environ) as served:
        served.greet()
        tools = served.ask(request(1, "tools/list"))["result"]["tools"]
        told = served.ask(call(2, "echo", text="hi"))
        refused = served.ask(call(3, "get_env"))
        code, _, err = served.end()

    assert {"echo", "writes"} <= {tool["name"] for tool in tools}
    assert text_of(told).startswith("['hi'")
    assert refused["result"]["_meta"]["toolseam/code"] == "permission_denied"
    assert code == 0
    assert b"(no roles) to the zone external_global" in err
    assert b"get_env" not in err.splitlines()[0]


def test_the_operator_says_who_acts_and_what_is_offered(workspace: Path, trusted_lab: Lab) -> None:
    """`--actor`, `--role`, `--tools` and `--zone` are his words, and nobody else's."""
    words = ("--actor", "ada", "--role", "admin", "--tools", "echo,group:system", "--zone", "local")
    with serve(trusted_lab, workspace, *words) as served:
        served.greet()
        tools = served.ask(request(1, "tools/list"))["result"]["tools"]
        _, _, err = served.end()

    names = {tool["name"] for tool in tools}
    assert {"echo", "get_env"} <= names
    assert not {"refuses", "read_records"} & names
    assert b"as ada (admin) to the zone local" in err


def test_the_settings_say_it_too(workspace: Path, trusted_lab: Lab, config: Path) -> None:
    """`[mcp]` of the operator's file names actor and roles where the command does not."""
    config.write_text(f'{config.read_text()}\n[mcp]\nactor = "eve"\nroles = ["admin"]\n')

    with serve(trusted_lab, workspace, "--tools", "echo") as served:
        err = served.said(b"not offered")

    assert b"as eve (admin)" in err


def test_what_a_plugin_prints_on_import_is_no_answer(workspace: Path, trusted_lab: Lab) -> None:
    """The streams are moved before any plugin is imported, and one that reads them gets nothing."""
    module = trusted_lab.folder / "acme_lab.py"
    module.write_text(PRINTS + module.read_text())

    with serve(trusted_lab, workspace) as served:
        served.greet()
        told = served.ask(call(1, "echo", text="hi"))
        _, rest, err = served.end()

    assert told["id"] == 1
    assert rest == b""
    assert b'"id":0,"result":{}' in err


@pytest.fixture
def web(workspace: Path, trusted_lab: Lab) -> Iterator[tuple[Served, Place, Path]]:
    """The command over HTTP, where it listens, and the file with its token."""
    with serve(trusted_lab, workspace, "--http", "--port", "0") as served:
        said = served.said(b"serving http").decode()
        port = re.search(r"serving http://127\.0\.0\.1:(\d+)/mcp\n", said)
        file = re.search(r"token: (.+)\n", said)
        assert port is not None
        assert file is not None
        yield served, Place(int(port[1])), Path(file[1])
        served.signal(signal.SIGTERM)


def test_over_http_a_token_is_made_for_the_owner_alone(web: tuple[Served, Place, Path]) -> None:
    """The token's file is private and outside the workspace, works, and goes with the server."""
    served, place, file = web
    bearer = f"Bearer {file.read_text()}"

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    session = opened(place, authorization=bearer)
    told = post(place, call(1, "echo"), mcp_session_id=session, authorization=bearer)
    assert text_of(told.message).startswith("[''")
    assert send(place).status == 401
    assert send(place, authorization=bearer, host=f"127.0.0.1:{place.port + 1}").status == 421
    assert send(place, path="/", authorization=bearer).status == 404

    served.signal(signal.SIGTERM)
    assert served.end()[0] == 0
    assert not file.exists()


def test_two_servers_of_one_port_have_a_token_each(
    web: tuple[Served, Place, Path], workspace: Path, trusted_lab: Lab
) -> None:
    """At another address of the machine the same port is another server, with its own file."""
    _, place, file = web
    token = file.read_text()
    words = ("--http", "--bind", "127.0.0.2", "--port", str(place.port))
    with serve(trusted_lab, workspace, *words) as second:
        said = second.said(b"serving http").decode()
        found = re.search(r"token: (.+)\n", said)
        assert found is not None
        other = Path(found[1])
        assert other != file
        second.signal(signal.SIGTERM)
        assert second.end()[0] == 0

    assert not other.exists()
    assert file.read_text() == token


def test_a_token_may_come_from_the_environment(workspace: Path, trusted_lab: Lab) -> None:
    """`--token-env` names the variable, and no file is made."""
    words = ("--http", "--port", "0", "--token-env", "MCP_TOKEN")
    with serve(trusted_lab, workspace, *words, MCP_TOKEN="of-the-operator-1") as served:
        said = served.said(b"serving http").decode()
        port = int(re.findall(r":(\d+)/mcp", said)[0])
        session = opened(Place(port), authorization="Bearer of-the-operator-1")
        served.signal(signal.SIGTERM)

    assert "token: the variable MCP_TOKEN" in said
    assert session


def test_words_that_do_not_go_together_are_refused(workspace: Path, trusted_lab: Lab) -> None:
    """Each mistake exits with 2 and says what to write instead."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for words, said in (
            (("--http", "--bind", "0.0.0.0"), "--plaintext"),  # noqa: S104
            (("--http", "--bind", "0.0.0.0", "--plaintext"), "--host"),  # noqa: S104
            (("--http", "--bind", "localhost"), "expected an IP address"),
            (("--http", "--port", port), "cannot be listened on"),
            (("--http", "--port", "70000"), "cannot be listened on"),
            (("--http", "--port", "0", "--token-env", "NOT_SET"), "NOT_SET"),
            (("--tools", "ecko"), "echo"),
        ):
            ran = toolseam("serve", "mcp", *words, cwd=workspace, environ=trusted_lab.environ)
            assert (ran.code, ran.out) == (2, ""), words
            assert said in ran.err, words


def test_a_token_is_never_kept_in_the_workspace(workspace: Path, lab: Lab) -> None:
    """Where its folder would lie there, the command says so and serves nothing."""
    environ = lab.environ | {"XDG_STATE_HOME": str(workspace)}
    ran = toolseam("serve", "mcp", "--http", "--port", "0", cwd=workspace, environ=environ)

    assert ran.code == 2
    assert "--token-env" in ran.err


def test_closed_streams_are_said(workspace: Path) -> None:
    """Started without a standard input it says so, in one line."""
    program = ("sh", "-c", f'exec "{SCRIPT}" serve mcp <&-')
    ran = toolseam(cwd=workspace, program=program)

    assert ran.code == 2
    assert ran.err.splitlines()[-1].endswith("a client has both")


def test_without_the_extra_it_says_what_to_install(workspace: Path, trusted_lab: Lab) -> None:
    """A missing SDK is one sentence with the command that installs it."""
    (trusted_lab.folder / "sitecustomize.py").write_text("import sys\nsys.modules['mcp'] = None\n")
    for words in ((), ("--http", "--port", "0")):
        ran = toolseam(
            *("serve", "mcp", *words),
            cwd=workspace,
            program=(SCRIPT,),
            environ=trusted_lab.environ,
        )
        assert ran.code == 2
        assert "pip install 'toolseam[mcp]'" in ran.err
        assert "Traceback" not in ran.err
