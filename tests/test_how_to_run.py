"""The pages on runs are true: their programs do what they say, against a model on loopback."""

import asyncio
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import httpx2
import pytest

from support.museum import RENAME, Museum, museum
from support.openai_wire import call_chunk, chat, chat_chunks
from support.provider_recorder import Recorder, recording

PAGES = Path(__file__).parent.parent / "docs" / "how-to"
READ = ("read_records", '{"table": "pages"}', "call_1")
WRITE = ("update_record_metadata", RENAME, "call_1")
SAID = chat("There is one.")
LOOP_LINES = 12
Told: TypeAlias = Callable[[str, Museum], str]


def programs(page: str) -> list[str]:
    """Return the programs of a page."""
    return re.findall(r"```python\n(.*?)```", (PAGES / page).read_text("utf-8"), re.DOTALL)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Told:
    """What runs a program of a page in the site's folder, in this process, and gives its output."""

    def tell(program: str, site: Museum) -> str:
        monkeypatch.chdir(site.folder)
        for name, value in site.environ.items():
            monkeypatch.setenv(name, value)
        exec(compile(program, "<page>", "exec"), {"__name__": "__main__"})
        out, err = capfd.readouterr()
        assert err == ""
        return out

    return tell


def run(program: str, site: Museum) -> str:
    """Run a program of a page in the site's folder, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=site.folder,
        env=os.environ | site.environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def roles(recorder: Recorder) -> list[list[str]]:
    """Return the roles of the messages of each request."""
    return [[each["role"] for each in heard.body["messages"]] for heard in recorder.heard]


def test_one_question_is_answered_as_printed(tmp_path: Path, told: Told) -> None:
    """The model is told what the tool answered, and the run says what happened."""
    once, _, _, _ = programs("run-a-loop.md")
    with recording(chat(calls=[READ]), SAID) as recorder:
        out = told(once, museum(tmp_path, recorder))

    assert out == "completed There is one.\n[('read_records', 'ok')]\n"
    assert roles(recorder) == [["user"], ["user", "assistant", "tool"]]
    assert "Untitled" in recorder.heard[1].body["messages"][2]["content"]


def test_a_conversation_goes_on_as_printed(tmp_path: Path, told: Told) -> None:
    """The second question comes after all that was said before."""
    _, again, _, _ = programs("run-a-loop.md")
    with recording(SAID, chat("None is.")) as recorder:
        out = told(again, museum(tmp_path, recorder))

    assert out == "None is.\n"
    assert roles(recorder) == [["user"], ["user", "assistant", "user"]]


def test_events_come_as_printed(tmp_path: Path, told: Told) -> None:
    """Words as they come, and each step."""
    _, _, streamed, _ = programs("run-a-loop.md")
    answers = (
        chat_chunks(call_chunk(*READ), finish="tool_calls"),
        chat_chunks({"content": "There "}, {"content": "is one."}),
    )
    with recording(*answers) as recorder:
        out = told(streamed, museum(tmp_path, recorder))

    assert out == "[read_records: ok]\nThere is one.\n"


def test_your_own_loop_takes_twelve_lines(tmp_path: Path, told: Told) -> None:
    """With the maker's SDK alone: schemas out, calls in, the seam's text as the answer."""
    *_, own = programs("run-a-loop.md")
    with recording(chat(calls=[READ]), SAID) as recorder:
        out = told(own, museum(tmp_path, recorder))

    assert len([line for line in own.splitlines() if line.strip()]) <= LOOP_LINES
    assert out == "There is one.\n"
    assert roles(recorder) == [["user"], ["user", "assistant", "tool"]]
    offered = {tool["function"]["name"] for tool in recorder.heard[0].body["tools"]}
    assert "read_records" in offered
    assert "get_env" not in offered
    assert "Untitled" in recorder.heard[1].body["messages"][2]["content"]


def test_a_run_waits_and_goes_on_in_another_process_as_printed(tmp_path: Path, told: Told) -> None:
    """The first program shows the call, the second decides it and has the answer."""
    ask, decide = programs("let-people-approve.md")
    with recording(chat(calls=[WRITE]), chat("It is Tides now.")) as recorder:
        site = museum(tmp_path, recorder)
        asked = told(ask, site)
        assert site.title == "Untitled"
        decided = run(decide, site)
        after = told(decide, site)

    assert asked.startswith("waiting_for_approval ")
    assert "update_record_metadata" in asked
    assert "Tides" in asked
    assert decided.endswith("completed It is Tides now.\n")
    assert (after, site.title) == ("", "Tides")


# -- FastAPI ---------------------------------------------------------------------------------------

ADA, EVE = "token-1", "token-2"
Asked = tuple[str, str, Any]
"""Who asks, where, and what."""


def application(folder: Path) -> Any:
    """Import the page's program as the module of a service."""
    (program,) = programs("serve-with-fastapi.md")
    file = folder / "service.py"
    file.write_text(program)
    spec = importlib.util.spec_from_file_location("how_to_service", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.app


def served(site: Museum, monkeypatch: pytest.MonkeyPatch, *steps: Any) -> list[httpx2.Response]:
    """Put requests to the service; a step is one, or makes one of the responses so far."""
    monkeypatch.chdir(site.folder)
    for name, value in site.environ.items():
        monkeypatch.setenv(name, value)
    app = application(site.folder)

    async def all_of_them() -> list[httpx2.Response]:
        responses: list[httpx2.Response] = []
        transport = httpx2.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx2.AsyncClient(transport=transport, base_url="http://service.test") as client,
        ):
            for step in steps:
                who, path, body = step(responses) if callable(step) else step
                headers = {"authorization": f"Bearer {who}"}
                responses.append(await client.post(path, json=body, headers=headers))
        return responses

    return asyncio.run(all_of_them())


def word(who: str, **changes: Any) -> Any:
    """Return a step that decides what waits since the first response."""

    def step(responses: Sequence[httpx2.Response]) -> Asked:
        asked = responses[0].json()
        (call,) = asked["waits"]
        words = [{"position": call["position"], "digest": call["digest"], **changes}]
        return who, f"/runs/{asked['run']}", words

    return step


def test_a_service_asks_for_the_person_who_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is refused with 401; somebody gets the run."""
    with recording(chat(calls=[READ]), SAID) as recorder:
        nobody, somebody = served(
            museum(tmp_path, recorder),
            monkeypatch,
            ("", "/ask", {"text": "Which pages?"}),
            (ADA, "/ask", {"text": "Which pages?"}),
        )

    assert (nobody.status_code, somebody.status_code) == (401, 200)
    assert somebody.json()["answer"] == "There is one."
    assert len(recorder.heard) == 2


def test_a_service_streams_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words, then the run; each line is JSON."""
    with recording(chat_chunks({"content": "There "}, {"content": "is one."})) as recorder:
        site = museum(tmp_path, recorder)
        (response,) = served(site, monkeypatch, (ADA, "/stream", {"text": "Which?"}))

    *words, told = [json.loads(line) for line in response.text.splitlines()]
    assert words == [{"words": "There "}, {"words": "is one."}]
    assert told["status"] == "completed"


def test_a_service_takes_a_persons_word_on_what_he_saw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another digest is 409 and changes nothing, the one that was shown runs the call once."""
    with recording(chat(calls=[WRITE]), chat("It is Tides now.")) as recorder:
        site = museum(tmp_path, recorder)
        asked, wrong, right, late = served(
            site,
            monkeypatch,
            (ADA, "/ask", {"text": "Rename page 7."}),
            word(EVE, approve=True, digest="0" * 64),
            word(EVE, approve=True),
            word(EVE, approve=True),
        )

    assert "Untitled" in str(asked.json()["waits"][0]["preview"])
    assert [each.status_code for each in (wrong, right, late)] == [409, 200, 404]
    assert (right.json()["answer"], site.title) == ("It is Tides now.", "Tides")


def test_a_service_takes_a_no(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The call does not run, and the model is told why."""
    with recording(chat(calls=[WRITE]), chat("Then not.")) as recorder:
        site = museum(tmp_path, recorder)
        _, denied = served(
            site,
            monkeypatch,
            (ADA, "/ask", {"text": "Rename page 7."}),
            word(EVE, approve=False, reason="not on a Friday"),
        )

    assert (denied.json()["answer"], site.title) == ("Then not.", "Untitled")
    assert "not on a Friday" in recorder.heard[1].raw.decode()
