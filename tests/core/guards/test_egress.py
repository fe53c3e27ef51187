import ipaddress
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.network import INSIDE, NEVER, embeddings, wide
from toolseam import ErrorCode, ToolError
from toolseam.guards import AllowedHost, EgressGuard, read_web_address
from toolseam.guards._addresses import reach_of

OUTSIDE = "That address is outside what may be reached."
NAME = "docs.example.test"
OUTER = ("8.8.8.8", "1.1.1.1", "2606:4700::1111", "2001:4860:4860::8888", "64:ff9b::808:808")


def refusal(guard: EgressGuard, url: str) -> ToolError:
    """Judge a URL that is refused."""
    with pytest.raises(ToolError) as caught:
        guard.judge(url, 1)
    return caught.value


@contextmanager
def suppress_refusals() -> Iterator[None]:
    """Let pass the two kinds of refusal that a URL may meet."""
    try:
        yield
    except ToolError as error:
        if error.code not in {ErrorCode.PERMISSION_DENIED, ErrorCode.INVALID_ARGUMENTS}:
            raise


def guard(*answers: str, private: bool = False, **hosts: AllowedHost) -> EgressGuard:
    """Return a guard that knows one name, for which the resolver gives these addresses."""
    return EgressGuard({NAME: AllowedHost(private=private), **hosts}, lambda name, port: answers)


@pytest.mark.parametrize(
    "url",
    [
        *("http://2130706433/", "http://0x7f.1/", "http://0177.0.0.1/", "http://127.1/"),
        *("http://0.0.0.0/", "http://[::]/", "http://[::1]/", "http://[::ffff:127.0.0.1]/"),
        *("http://[::ffff:a9fe:a9fe]/", "http://[::ffff:100.64.0.1]/"),
        *("http://[::ffff:169.254.169.254]/", "http://[64:ff9b::a9fe:a9fe]/"),
        *("http://100.100.100.200/", "http://169.254.169.254/", "http://localhost./"),
        *("http://docs.example.test@127.0.0.1/", "http://Aster-9:x@docs.example.test/"),
        *("http://127.0.0.1#@docs.example.test/", "http://127.0.0.1\uff0f@docs.example.test/"),
        *("file:///etc/hostname", "gopher://127.0.0.1/", "ftp://docs.example.test/"),
        *("http://docs.example.test:0/", "http://docs.example.test:70000/"),
        *("http://docs.example.test:8080/", "https://docs.example.test:80/"),
        *("http://docs.example.test../", "http://.docs.example.test/", "http://docs..test/"),
        *("http://docs%2eexample.test/", "http://[docs.example.test]/", "http://[127.0.0.1]/"),
        *("http://[fe80::1%25eth0]/", "http://[fe80::1%eth0]/", "http://[::1/", "http://:80/"),
        *("http://docs.example.test.evil.test/", "http://evil.test/", "http://a,b/"),
        *("http://\uff11\uff12\uff17.\uff10.\uff10.\uff11/", "http://\u2460\u2461\u2466.1/"),
        *(f"http://{'a' * 64}.test/", f"http://{'a.' * 130}test/", "http://\u0130\u0130/"),
    ],
)
def test_other_spellings_and_other_hosts_are_one_refusal(url: str) -> None:
    """Whatever is not the allowed host in its usual spelling is refused alike, unresolved (P26)."""
    asked: list[str] = []

    def resolver(name: str, port: int) -> Sequence[str]:
        asked.append(name)
        return ["8.8.8.8"]

    failure = refusal(EgressGuard({NAME: AllowedHost()}, resolver), url)

    assert (failure.code, failure.message) == (ErrorCode.PERMISSION_DENIED, OUTSIDE)
    assert failure.metadata == {}
    assert asked == []


@pytest.mark.parametrize(
    "url",
    ["", "x", "/health", "//docs.example.test/", "docs.example.test:80/x", "http:/x", "http:"],
)
@pytest.mark.parametrize("bad", ["", " ", "\t", "\n", "\x00", "\\"])
def test_what_is_no_url_is_said(url: str, bad: str) -> None:
    """Text that is no absolute URL, or holds blanks or control characters, is a wrong argument."""
    assert refusal(guard("8.8.8.8"), url + bad).code == ErrorCode.INVALID_ARGUMENTS
    assert refusal(guard("8.8.8.8"), f"http://{NAME}/{bad or ' '}").code == "invalid_arguments"


@pytest.mark.parametrize(
    ("url", "origin", "path"),
    [
        (f"http://{NAME}", f"http://{NAME}", "/"),
        ("HTTPS://DOCS.Example.Test.:443/a?b=c#d", f"https://{NAME}", "/a?b=c"),
        (f"http://{NAME}:/?", f"http://{NAME}", "/"),
        (f"http://{NAME}:8080/%41/é", f"http://{NAME}:8080", "/%41/%C3%A9"),
        ("http://bücher.example/", "http://xn--bcher-kva.example", "/"),
        (f"http://{wide('DOCS')}\u3002example\uff0etest/", f"http://{NAME}", "/"),
        ("http://[::ffff:8.8.8.8]/", "http://8.8.8.8", "/"),
        ("https://[2606:4700:0:0::1111]:8443/", "https://[2606:4700::1111]:8443", "/"),
    ],
)
def test_a_url_has_one_reading(url: str, origin: str, path: str) -> None:
    """Scheme, host, port and path are read once, each in its one spelling."""
    address = read_web_address(url)

    assert (address.origin, address.path) == (origin, path)


@pytest.mark.parametrize("address", OUTER)
def test_public_addresses_pass_in_order(address: str) -> None:
    """A name whose addresses are all public is a target that holds them, each once."""
    target = guard(address, "8.8.8.8", address).judge(f"http://{NAME}/x", 1)

    assert target.addresses == tuple(dict.fromkeys([address, "8.8.8.8"]))
    assert target.url.host == NAME


@pytest.mark.parametrize("address", [*INSIDE, *NEVER, "fe80::1%eth0", "no address", ""])
def test_one_address_inside_refuses_the_name(address: str) -> None:
    """All addresses of a name have to pass, whichever comes first (P27)."""
    for answers in ([address], ["8.8.8.8", address], [address, "8.8.8.8"]):
        failure = refusal(guard(*answers), f"http://{NAME}/")

        assert (failure.code, failure.message) == (ErrorCode.PERMISSION_DENIED, OUTSIDE)


@pytest.mark.parametrize("address", INSIDE)
def test_private_hosts_pass_where_the_operator_says_so(address: str) -> None:
    """A host that is named as private may lie inside; what is never reached, is not."""
    assert guard(address, private=True).judge(f"http://{NAME}/", 1).addresses == (address,)


@pytest.mark.parametrize("address", NEVER)
def test_some_addresses_are_never_reached(address: str) -> None:
    """Link-local, multicast, unspecified, reserved and metadata addresses pass nowhere."""
    assert refusal(guard(address, private=True), f"http://{NAME}/").message == OUTSIDE
    written = f"[{address}]" if ":" in address else address
    named = EgressGuard({address: AllowedHost(private=True)})
    assert refusal(named, f"http://{written}/").message == OUTSIDE


@pytest.mark.parametrize("inner", ["127.0.0.1", "8.8.8.8", "169.254.169.254"])
def test_a_mapped_address_reaches_what_it_stands_for(inner: str) -> None:
    """An IPv4-mapped address lies as far inside as the IPv4 address in it."""
    mapped = ipaddress.IPv6Address(f"::ffff:{inner}")

    assert reach_of(mapped) is reach_of(ipaddress.IPv4Address(inner))


@given(st.sampled_from([a for a in (*INSIDE, *NEVER) if ":" not in a]), st.integers(0, 255))
@settings(max_examples=100, deadline=None)
def test_no_embedding_opens_an_inside_address(address: str, last: int) -> None:
    """Mapped, translated and tunnelled forms of an inside address are refused as it is."""
    number = int(ipaddress.IPv4Address(address))
    if address in INSIDE:
        number = number & ~0xFF | last

    for written in embeddings(number):
        assert refusal(guard(written), f"http://{NAME}/").message == OUTSIDE
        if address in NEVER:
            assert refusal(guard(written, private=True), f"http://{NAME}/").message == OUTSIDE


@given(st.integers(0, (1 << 32) - 1))
@settings(max_examples=150, deadline=None)
def test_numeric_spellings_never_pass_for_an_allowed_address(number: int) -> None:
    """Of all ways to write an allowed IPv4 address as a host, only the usual one is taken."""
    usual = str(ipaddress.IPv4Address(number))
    first, second, third, fourth = usual.split(".")
    named = EgressGuard({usual: AllowedHost(private=True)}, lambda name, port: [usual])
    spellings = [
        str(number),
        hex(number),
        f"0{number:o}",
        f"{first}.{number & 0xFFFFFF}",
        f"{first}.{second}.{number & 0xFFFF}",
        f"{int(first):#x}.{second}.{third}.{fourth}",
        f"0{int(first):o}.{second}.{third}.{fourth}",
        f"{usual}.",
        wide(usual),
        usual.replace(".", "\u3002"),
        f"{usual}%2f",
        f"user@{usual}",
        f"[{usual}]",
    ]

    for spelling in spellings:
        assert refusal(named, f"http://{spelling}/").message == OUTSIDE


@given(st.text(max_size=60), st.text(max_size=30))
@settings(max_examples=200, deadline=None)
def test_no_text_reaches_what_was_not_allowed(host: str, path: str) -> None:
    """Any text is either the allowed host, or one of two typed refusals."""
    judged = guard("8.8.8.8")

    with suppress_refusals():
        target = judged.judge(f"http://{host}/{path}", 1)
        assert target.url.host == NAME
        assert target.url.path.isascii()


def test_ports_are_the_schemes_own_or_as_the_operator_wrote() -> None:
    """Without ports the scheme decides; with them, they alone hold."""
    named = EgressGuard({"8.8.8.8": AllowedHost(ports=(8000, 443))})

    assert named.judge("http://8.8.8.8:8000/", 1).url.port == 8000
    assert named.judge("https://8.8.8.8/", 1).url.port == 443
    assert refusal(named, "http://8.8.8.8/").message == OUTSIDE
    assert refusal(guard("8.8.8.8"), f"http://{NAME}:443/").message == OUTSIDE


def test_hosts_may_be_written_in_any_usual_way() -> None:
    """The operator's spelling of a host is brought to the same form as the URL's."""
    hosts = {"Docs.Example.Test.": AllowedHost(), "[2606:4700::1111]": AllowedHost()}
    named = EgressGuard(hosts, lambda name, port: ["8.8.8.8"])

    assert set(named.hosts) == {NAME, "2606:4700::1111"}
    assert named.judge("http://[2606:4700::1111]/", 1).addresses == ("2606:4700::1111",)


@pytest.mark.parametrize("name", ["", "http://x", "a/b", "a:80", "2130706433"])
def test_a_host_that_is_none_is_a_fault_of_the_settings(name: str) -> None:
    """A key that no URL could ever name is refused at once."""
    with pytest.raises(ValueError, match="no host name"):
        EgressGuard({name: AllowedHost()})


@pytest.mark.parametrize("error", [OSError("CAN"), UnicodeError("CAN"), None])
def test_a_name_without_an_address_is_unavailable(error: Exception | None) -> None:
    """A name that does not resolve is a failure of its own, without the system's words (P27)."""

    def resolver(name: str, port: int) -> Sequence[str]:
        if error is not None:
            raise error
        return []

    failure = refusal(EgressGuard({NAME: AllowedHost()}, resolver), f"http://{NAME}/")

    assert failure.code == ErrorCode.UNAVAILABLE
    assert failure.metadata == {"reason": "unresolved"}
    assert "CAN" not in failure.message


def test_a_resolver_that_hangs_is_not_waited_for() -> None:
    """Looking up a name ends with the time that is given."""
    done = threading.Event()

    def resolver(name: str, port: int) -> Sequence[str]:
        done.wait(60)
        return ["8.8.8.8"]

    began = time.monotonic()
    with pytest.raises(ToolError, match="resolved"):
        EgressGuard({NAME: AllowedHost()}, resolver).judge(f"http://{NAME}/", 0.05)

    assert time.monotonic() - began < 30
    done.set()


def test_the_systems_resolver_is_asked_unless_another_is_given() -> None:
    """Without a resolver the system says where a name is."""
    named = EgressGuard({"localhost": AllowedHost(private=True)})

    assert set(named.judge("http://localhost/", 5).addresses) <= {"127.0.0.1", "::1"}


@pytest.mark.parametrize("length", [511, 512, 513, 1500])
def test_path_and_query_have_a_bound(length: int) -> None:
    """At most 512 bytes of path and query leave, counted as they are sent (H21)."""
    url = f"http://{NAME}/?{'q' * (length - 2)}"

    if length <= 512:
        assert len(guard("8.8.8.8").judge(url, 1).url.path) == length
    else:
        failure = refusal(guard("8.8.8.8"), url)
        assert failure.code == ErrorCode.INVALID_ARGUMENTS
        assert "512" in failure.message
