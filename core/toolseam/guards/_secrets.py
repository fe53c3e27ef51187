"""Secrets that show by their shape, in any text."""

from toolseam.guards._shapes import ANY_SHAPE, SHAPES

MASK = "[masked]"


def mask_secrets(text: str, *, keep_lines: bool = False) -> tuple[str, int]:
    """Replace each secret that shows by its shape with ``[masked]``.

    Known are the userinfo of a URL, credentials in a query or a connection string, bearer tokens
    and ``Authorization`` values, the ``auth`` of Docker and npm, JSON web tokens, private-key
    blocks and keys with the prefix of a well-known vendor. UUIDs, hashes and ordinary prose stay as
    they are. Masking twice changes nothing more.

    Args:
        text: Any text.
        keep_lines: Leave as many line ends in a masked block as it had, for numbered lines.

    Returns:
        The text, the same object if it is clean, and how many secrets were replaced.
    """
    count = 0
    # What one shape masks may lay bare another; each turn masks at least one more, so this ends.
    while ANY_SHAPE(text):
        text, found = _mask_once(text, keep_lines=keep_lines)
        if not found:
            break
        count += found
    return text, count


def _mask_once(text: str, *, keep_lines: bool) -> tuple[str, int]:
    """Let each shape mask what it finds, the text of one handed to the next."""
    count = 0
    for gate, spans in SHAPES:
        if not gate(text):
            continue
        pieces: list[str] = []
        end = 0
        for start, stop in spans(text):
            secret = text[start:stop]
            if start < end or secret == MASK:
                continue
            pieces += (text[end:start], MASK, "\n" * secret.count("\n") if keep_lines else "")
            end = stop
            count += 1
        if pieces:
            text = "".join((*pieces, text[end:]))
    return text, count
