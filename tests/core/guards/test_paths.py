import os
import sqlite3
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.links import flipping
from toolseam import ErrorCode, ToolError
from toolseam.guards import FileLook, FileRead, FolderRead, PathGuard
from toolseam.guards._paths import open_judged

CANARY = b"Canary-7"


@pytest.fixture
def share(tmp_path: Path) -> Path:
    """A root with the files and links of P25, and secrets beside it."""
    root = tmp_path / "share"
    (root / "sub").mkdir(parents=True)
    (root / "note.md").write_bytes(b"# Note\n")
    (root / "sub" / "deep.txt").write_bytes(b"deep")
    (root / ".env").write_bytes(CANARY)
    (tmp_path / "share-secret").mkdir()
    (tmp_path / "share-secret" / "x.md").write_bytes(CANARY)
    (root / "out").symlink_to("../share-secret")
    (root / "self").symlink_to(".")
    (root / "gone").symlink_to("nowhere")
    return root


@pytest.fixture
def guard(share: Path) -> PathGuard:
    """The guard over that root."""
    return PathGuard(share)


def refusal(guard: PathGuard, name: str) -> tuple[ErrorCode, str]:
    """Read a name that must be refused; give code and message."""
    with pytest.raises(ToolError) as caught:
        guard.read(name)
    return caught.value.code, caught.value.message


@pytest.mark.parametrize(
    "name",
    [
        *("../share-secret/x.md", "../share-secret/none.md", "out/x.md", "out/none.md", "out"),
        *("/etc/passwd", "/etc/none", "..", "sub/../../share-secret/x.md", "self/out/x.md"),
        *(".env", ".none", "sub/.git/config", "none/.env", "self/.env"),
    ],
)
def test_outside_and_denied_are_one_refusal(guard: PathGuard, share: Path, name: str) -> None:
    """What is outside or denied is refused in the same words, existing or not (P25)."""
    assert refusal(guard, name) == refusal(guard, str(share.parent / "share-secret" / "x.md"))
    assert refusal(guard, name)[0] == ErrorCode.PERMISSION_DENIED


@pytest.mark.parametrize(
    "name",
    [
        *("a.pem", "a.KEY", "b.p12", "b.pfx", "b.jks", "b.keystore", "b.kdbx", "b.ppk", "b.asc"),
        *("b.gpg", "id_rsa", "id_rsa.pub", "id_ed25519_work", "id_ecdsa", "Credentials.json"),
        *("my-credential/x.py", "app-secrets.yml", "secret.yaml", "x.secret.json", "secrets.toml"),
        *("service-account-1.json", "prod.tfstate", "a.tfstate.backup", ".netrc", "_netrc"),
        *(".pgpass", ".htpasswd", "auth.json", "kubeconfig", "sub/AUTH.JSON"),
    ],
)
def test_key_material_and_credential_files_are_denied(
    guard: PathGuard, share: Path, name: str
) -> None:
    """The denied names of H27 hold in any folder and any case, existing or not."""
    before = refusal(guard, name)
    (share / name).parent.mkdir(exist_ok=True)
    (share / name).write_bytes(CANARY)

    assert refusal(guard, name) == before
    assert before[0] == ErrorCode.PERMISSION_DENIED
    assert name not in list(guard.walk())


@pytest.mark.parametrize("name", ["secret.py", "monkey.txt", "keys.md", "authors.json", "tokens"])
def test_names_that_only_look_alike_are_read(guard: PathGuard, share: Path, name: str) -> None:
    """A source file is not denied for a word in its name."""
    (share / name).write_bytes(b"x")

    assert guard.read(name).data == b"x"


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("note.md", "note.md"),
        ("sub/../note.md", "note.md"),
        ("./sub/deep.txt", "sub/deep.txt"),
        ("self/self/note.md", "note.md"),
    ],
)
def test_files_inside_are_read_under_their_stored_name(
    guard: PathGuard, name: str, stored: str
) -> None:
    """Dots and links that stay inside work, and the answer names the file as it is stored."""
    assert guard.read(name).name == stored


def test_an_absolute_name_inside_is_read(guard: PathGuard, share: Path) -> None:
    """An absolute path below the root is as good as a relative one."""
    assert guard.read(str(share / "note.md")) == FileRead("note.md", b"# Note\n", 7)


@pytest.mark.parametrize("name", ["none.md", "sub/none", "gone", "gone/x", "note.md/x", "a" * 300])
def test_nothing_inside_is_not_found(guard: PathGuard, name: str) -> None:
    """What is inside and absent, a dangling link included, is `not_found`."""
    assert refusal(guard, name)[0] == ErrorCode.NOT_FOUND


@pytest.mark.parametrize("name", ["a\0b", "zip::note.md", "file://note.md", "sub", "", "a\udfff"])
def test_what_names_no_file_is_invalid(guard: PathGuard, name: str) -> None:
    """NUL, protocols and folders are `invalid_arguments`."""
    assert refusal(guard, name)[0] == ErrorCode.INVALID_ARGUMENTS


@pytest.mark.parametrize("name", ["~/x", "$HOME/x", "%2e%2e/x", "a..%2fx", "a\\..\\x"])
def test_names_are_literal(guard: PathGuard, name: str) -> None:
    """Tilde, variables and percent signs mean nothing in a name."""
    assert refusal(guard, name)[0] == ErrorCode.NOT_FOUND


def test_a_place_for_a_new_file_is_judged_too(guard: PathGuard, share: Path) -> None:
    """Resolving judges what does not exist yet, where a link leads out included (P25)."""
    assert guard.resolve("sub/new.txt") == share / "sub" / "new.txt"
    with pytest.raises(ToolError) as caught:
        guard.resolve("out/new.txt")
    assert caught.value.code == ErrorCode.PERMISSION_DENIED


def test_walking_ends_and_shows_what_may_be_read(guard: PathGuard) -> None:
    """A walk is sorted, ends in spite of link cycles, and leaves hidden files and links out."""
    assert list(guard.walk()) == ["note.md", "sub/deep.txt"]


def test_walking_starts_where_it_is_told(guard: PathGuard) -> None:
    """A folder, a link to it and a file can be walked; folders can be left out."""
    assert list(guard.walk("sub")) == ["sub/deep.txt"]
    assert list(guard.walk("self/sub/deep.txt")) == ["sub/deep.txt"]
    assert list(guard.walk(leave_out={"sub"})) == ["note.md"]


@pytest.mark.parametrize(
    ("name", "code"),
    [("out", ErrorCode.PERMISSION_DENIED), ("none", ErrorCode.NOT_FOUND)],
)
def test_walking_refuses_at_once(guard: PathGuard, name: str, code: ErrorCode) -> None:
    """A walk that must not begin is refused before its first name is asked for."""
    with pytest.raises(ToolError) as caught:
        guard.walk(name)
    assert caught.value.code == code


def test_a_folder_is_listed_with_what_may_be_seen(guard: PathGuard, share: Path) -> None:
    """Folders and files are listed apart and sorted; links and hidden entries are counted only."""
    (share / "z").mkdir()
    (share / "a.md").touch()

    assert guard.folder() == FolderRead(".", ("sub", "z"), ("a.md", "note.md"), 4)
    assert guard.folder("self/sub") == FolderRead("sub", (), ("deep.txt",), 0)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("note.md", ErrorCode.INVALID_ARGUMENTS),
        ("none", ErrorCode.NOT_FOUND),
        ("gone", ErrorCode.NOT_FOUND),
        ("out", ErrorCode.PERMISSION_DENIED),
        (".git", ErrorCode.PERMISSION_DENIED),
    ],
)
def test_what_is_no_folder_is_not_listed(guard: PathGuard, name: str, code: ErrorCode) -> None:
    """A file, nothing and what is denied are refused in the terms of reading."""
    with pytest.raises(ToolError) as caught:
        guard.folder(name)
    assert caught.value.code == code


def test_looking_tells_size_and_time(guard: PathGuard, share: Path) -> None:
    """A look gives the stored name, the size in bytes and the time of the last change."""
    os.utime(share / "note.md", (5, 5))
    os.utime(share / "sub", (6, 6))

    assert guard.look("self/note.md") == FileLook("note.md", is_folder=False, size=7, modified=5)
    assert guard.look("sub") == FileLook("sub", is_folder=True, size=0, modified=6)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        *((name, ErrorCode.NOT_FOUND) for name in ("none", "gone")),
        *((name, ErrorCode.PERMISSION_DENIED) for name in ("out/x.md", "out/none", "pipe", "twin")),
    ],
)
def test_looking_refuses_as_reading_does(
    guard: PathGuard, share: Path, name: str, code: ErrorCode
) -> None:
    """What may not be read is not looked at either."""
    os.mkfifo(share / "pipe")
    os.link(share / "sub" / "deep.txt", share / "twin")

    with pytest.raises(ToolError) as caught:
        guard.look(name)
    assert (caught.value.code, caught.value.message) == refusal(guard, name)
    assert caught.value.code == code


def test_an_open_file_is_read_piece_by_piece(guard: PathGuard, share: Path) -> None:
    """A stream begins at the first byte, goes beyond the limit of one read, and is closed."""
    (share / "large.bin").write_bytes(b"x" * 2_500_000)

    with guard.open("large.bin") as (look, file):
        sizes = [len(piece) for piece in iter(lambda: file.read(1_000_000), b"")]

    assert (look.name, look.size, sum(sizes)) == ("large.bin", 2_500_000, 2_500_000)
    assert file.closed


def test_a_hard_link_is_denied(guard: PathGuard, share: Path) -> None:
    """A second name may stand for a file outside, so neither name is read."""
    os.link(share.parent / "share-secret" / "x.md", share / "linked.md")

    assert refusal(guard, "linked.md")[0] == ErrorCode.PERMISSION_DENIED


def test_a_database_is_denied_under_any_name(guard: PathGuard, share: Path) -> None:
    """SQLite files are known by their first bytes."""
    with sqlite3.connect(share / "notes.txt") as database:
        database.execute("CREATE TABLE t (a)")
    database.close()

    assert refusal(guard, "notes.txt")[0] == ErrorCode.PERMISSION_DENIED


def test_closed_places_are_denied(share: Path) -> None:
    """Files and folders that the host closes are neither read nor walked."""
    guard = PathGuard(share, closed=[share / "sub"])

    assert refusal(guard, "sub/deep.txt")[0] == ErrorCode.PERMISSION_DENIED
    assert list(guard.walk()) == ["note.md"]
    assert guard.folder().folders == ()


def test_a_hidden_file_is_read_where_it_is_named(share: Path) -> None:
    """Exactly the named files are read, whatever their segments; what lies beside stays hidden."""
    (share / ".conf").mkdir()
    for name in (".conf/site.toml", ".conf/other.toml", ".env.local"):
        (share / name).write_bytes(b"x")

    named = PathGuard(share, named={".env", "./.conf/site.toml", ".none"})

    assert named.read(".env").data == CANARY
    assert named.read("self/.conf/../.conf/site.toml").name == ".conf/site.toml"
    assert refusal(named, ".none")[0] == ErrorCode.NOT_FOUND
    for name in (".conf/other.toml", ".env.local", ".conf"):
        assert refusal(named, name)[0] == ErrorCode.PERMISSION_DENIED


@pytest.mark.parametrize(
    "name", [".netrc", ".pgpass", ".id_rsa", ".id_rsa.pub", "x.pem", ".aws/credentials", "out/x.md"]
)
def test_naming_opens_no_keys_and_nothing_outside(share: Path, name: str) -> None:
    """Keys and credentials stay denied whoever names them, and so does what is outside."""
    (share / name).parent.mkdir(exist_ok=True)
    (share / name).write_bytes(CANARY)

    assert refusal(PathGuard(share, named={name}), name)[0] == ErrorCode.PERMISSION_DENIED


def test_a_named_link_to_a_hidden_file_is_denied(share: Path) -> None:
    """What counts is where a link leads: the name of a link opens nothing hidden."""
    (share / ".settings").symlink_to(".env")

    code, _ = refusal(PathGuard(share, named={".settings"}), ".settings")

    assert code == ErrorCode.PERMISSION_DENIED


def test_a_pipe_is_denied_without_waiting(guard: PathGuard, share: Path) -> None:
    """What is no regular file is refused, and opening it never waits."""
    os.mkfifo(share / "pipe")

    assert refusal(guard, "pipe")[0] == ErrorCode.PERMISSION_DENIED
    assert "pipe" not in list(guard.walk())


def test_a_large_file_is_read_up_to_the_limit(guard: PathGuard, share: Path) -> None:
    """A read gives 2 MB at most and the whole size."""
    (share / "large.txt").write_bytes(b"x" * 2_000_001)

    read = guard.read("large.txt", limit=10_000_000)

    assert (len(read.data), read.size, read.complete) == (2_000_000, 2_000_001, False)


@pytest.mark.parametrize("stored", ["NFC", "NFD"])
@pytest.mark.parametrize("asked", ["NFC", "NFD"])
def test_a_name_in_another_unicode_form_is_found(
    guard: PathGuard, share: Path, stored: str, asked: str
) -> None:
    """A name is found by NFC equality, and the answer carries the stored form."""
    name = unicodedata.normalize(stored, "Gé/été.md")  # type: ignore[arg-type]
    (share / name).parent.mkdir()
    (share / name).write_bytes(b"x")

    assert guard.read(unicodedata.normalize(asked, name)).name == name  # type: ignore[arg-type]


def test_an_ambiguous_name_is_looked_up_exactly(guard: PathGuard, share: Path) -> None:
    """Of two names equal in NFC each is found exactly, and a third form finds neither."""
    forms = ["ệ.md", unicodedata.normalize("NFD", "ệ.md"), "ê\u0323.md"]
    for form in forms[:2]:
        (share / form).write_bytes(form.encode())

    assert [guard.read(form).data.decode() for form in forms[:2]] == forms[:2]
    assert refusal(guard, forms[2])[0] == ErrorCode.NOT_FOUND


@pytest.fixture
def locked(share: Path) -> Iterator[Path]:
    """The root with a folder that the operating system lets nobody enter, root included."""
    (share / "sub").chmod(0)
    (share / "note.md").chmod(0)
    for folder in share.parents[:-2]:
        folder.chmod(0o755)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    yield share
    os.seteuid(user)
    (share / "sub").chmod(0o700)


def test_what_the_system_locks_is_denied(locked: Path) -> None:
    """A file or folder that may not be opened is refused like one outside, and walks go on."""
    guard = PathGuard(locked)

    assert refusal(guard, "note.md") == refusal(guard, "../share-secret/x.md")
    assert refusal(guard, "sub/deep.txt")[0] == ErrorCode.PERMISSION_DENIED
    assert list(guard.walk()) == ["note.md"]


@pytest.mark.parametrize(
    ("now", "code"),
    [
        ("gone", ErrorCode.PERMISSION_DENIED),
        ("sub", ErrorCode.PERMISSION_DENIED),
        ("sub/deep.txt", ErrorCode.PERMISSION_DENIED),
        ("nothing", ErrorCode.NOT_FOUND),
    ],
)
def test_what_took_the_place_of_a_judged_file_is_not_opened(
    share: Path, now: str, code: ErrorCode
) -> None:
    """Between judging and opening, a link, a folder, another file or nothing gives no bytes."""
    judged = (share / "note.md").lstat()

    with pytest.raises(ToolError) as caught:
        open_judged(share / now, judged, "note.md")

    assert caught.value.code == code


def test_without_proc_the_inode_is_compared(
    guard: PathGuard, share: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the system tells no name of an open file, reading works and a swap is still seen."""

    def no_link(path: Path) -> Path:
        """Behave like a system without /proc."""
        raise FileNotFoundError(path)

    judged = (share / "sub" / "deep.txt").lstat()
    monkeypatch.setattr(Path, "readlink", no_link)

    assert guard.read("note.md").data == b"# Note\n"
    with pytest.raises(ToolError):
        open_judged(share / "note.md", judged, "note.md")


NAMES = st.sampled_from(["a", "b", ".h", "é", "x.key", "in", "out"])
PATHS = st.lists(st.one_of(NAMES, st.sampled_from(["..", "."])), min_size=1, max_size=5)
TREES = st.lists(
    st.tuples(PATHS, st.sampled_from(["file", "folder", "link", "far link"]), PATHS), max_size=12
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(TREES, st.lists(PATHS, max_size=6))
def test_no_tree_of_links_leads_out(
    tmp_path_factory: pytest.TempPathFactory,
    tree: list[tuple[list[str], str, list[str]]],
    asked: list[list[str]],
) -> None:
    """In any tree of files, folders and links nothing but an allowed file inside is opened."""
    base = tmp_path_factory.mktemp("tree")
    root = base / "in"
    root.mkdir()
    (base / "a").write_bytes(CANARY)
    for path, kind, target in tree:
        place = root.joinpath(*[part for part in path if part not in {".", ".."}])
        with suppress(OSError):
            place.parent.mkdir(parents=True, exist_ok=True)
            if kind == "file":
                inside = Path(os.path.realpath(place)).is_relative_to(root)
                place.write_bytes(str(place.name).encode() if inside else CANARY)
            elif kind == "folder":
                place.mkdir()
            else:
                place.symlink_to("/".join([str(base)] * (kind == "far link") + target))
    guard = PathGuard(root)

    walked = list(guard.walk())
    read: list[FileRead] = []
    for name in [*walked, *("/".join(parts) for parts in asked)]:
        with suppress(ToolError):
            read.append(guard.read(name))

    assert len(walked) == len(set(walked))
    for file in read:
        assert file.data != CANARY
        assert not file.name.endswith(".key")
        assert not any(part.startswith(".") for part in file.name.split("/"))
        assert Path(os.path.realpath(root / file.name)) == root / file.name


def test_a_flipping_link_never_leads_out(guard: PathGuard, share: Path) -> None:
    """A link and a folder that are swapped while files are read give nothing from outside (H27)."""
    (share / "inside").mkdir()
    (share / "inside" / "x.md").write_bytes(b"fine")
    seen = set[bytes]()

    with flipping(share / "flip", "inside", "../share-secret"):
        for _ in range(1500):
            with suppress(ToolError):
                seen.add(guard.read("flip/x.md").data)

    assert seen <= {b"fine"}


SEGMENTS = st.sampled_from(
    [
        *("", ".", "..", "...", "~", "in", "out", "self", "gone", "sub", "note.md", "x.md"),
        *("in-secret", "none", ".env", "%2e%2e", "..%2f", "..\\in-secret", "\uff0e\uff0e", ".. "),
        *("$HOME", "..\u2215in-secret", "a\0b", "x" * 300, "C:", "file:"),
    ]
)


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two equal roots, one with secrets beside it and one with nothing."""
    bases = [tmp_path_factory.mktemp("full"), tmp_path_factory.mktemp("bare")]
    for base in bases:
        root = base / "in"
        (root / "sub").mkdir(parents=True)
        (root / "note.md").write_bytes(b"fine")
        (root / "out").symlink_to("../in-secret")
        (root / "self").symlink_to(".")
        (root / "gone").symlink_to("nowhere")
    (bases[0] / "in-secret").mkdir()
    (bases[0] / "in-secret" / "x.md").write_bytes(CANARY)
    (bases[0] / "in" / ".env").write_bytes(CANARY)
    return bases[0], bases[1]


def ways(guard: PathGuard) -> list[Callable[[str], object]]:
    """Return all that a guard can be asked of a name."""
    return [guard.read, guard.folder, guard.look, lambda name: list(guard.walk(name))]


def told(answer: object) -> object:
    """Return the part of an answer that does not depend on the moment or on hidden files inside."""
    if isinstance(answer, FileLook):
        return answer.name, answer.size
    return (answer.folders, answer.files) if isinstance(answer, FolderRead) else answer


@settings(max_examples=200)
@given(st.lists(SEGMENTS, min_size=1, max_size=7), st.sampled_from(["", "/", "in", "/in-secret"]))
def test_no_spelling_tells_what_is_outside(
    twins: tuple[Path, Path], segments: list[str], start: str
) -> None:
    """Whatever the spelling, the answer is the same with secrets outside as with nothing there."""
    answers: list[object] = []
    for base in twins:
        guard = PathGuard(base / "in")
        name = "/".join([f"{base}{start}" if start.startswith("/") else start, *segments])
        for ask in ways(guard):
            try:
                given_out = ask(name)
            except ToolError as error:
                refused = error.message.replace(str(base), "")
                answers.append((error.code, refused.split("\u2026", maxsplit=1)[0]))
                continue
            assert CANARY not in str(given_out).encode()
            answers.append(told(given_out))

    assert answers[: len(answers) // 2] == answers[len(answers) // 2 :]


def test_a_large_tree_is_walked_in_little_time(tmp_path: Path) -> None:
    """Ten thousand files take a small part of what a tool may spend on a hundred thousand."""
    for number in range(10_000):
        folder = tmp_path / f"{number // 100:03}"
        folder.mkdir(exist_ok=True)
        os.close(os.open(folder / f"{number}.jpg", os.O_CREAT))

    begin = time.process_time()
    walked = sum(1 for _ in PathGuard(tmp_path).walk())

    assert walked == 10_000
    assert time.process_time() - begin < 0.3
