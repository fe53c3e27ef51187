"""Questions and texts as words: what is asked for, and what says nothing."""

from __future__ import annotations

import itertools
import re

import attrs

_SIGNS = re.compile(r"[\s\x00-/:-@\[-`{-\xbf\u2000-\u206f\u3000-\u303f\ufeff]+")
_APOSTROPHES = re.compile("[\u2018\u2019\u02bc]")
_TAIL = re.compile(r"(?<=[^\W\d_])'(?:s|t|d|m|ll|re|ve)(?![^\W_])", re.IGNORECASE)
# Scripts that put no blank between words: every sign is a word of its own in the index.
_SIGN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003ffff"
_SPREAD = re.compile(f"([{_SIGN}])")
_RUN = re.compile(f"[{_SIGN}]+|[^{_SIGN}]+")

_COMMON = """
a about all also am an and any are aren't as at be because been but by can can't cannot could
couldn't did didn't do does doesn't doing don't for from had has have having he her here hers
him his how i i'd i'll i'm i've if in into is isn't it it's its just let's like may me might
more most must my no nor not of on or other our ours out please shall she should so some such
than that that's the their theirs them then there there's these they this those to too us very
was we were what what's when where which who whom whose why will with won't would you your
yours
"""
_STOP = frozenset(_COMMON.split())


@attrs.frozen
class Wanted:
    """What a question asks for: its words, and whether it had any with the common ones."""

    terms: tuple[str, ...]
    spoken: bool

    def every(self) -> str:
        """Return the expression for texts that hold all of the words."""
        return " AND ".join(map(_quoted, self.terms))

    def some(self) -> str:
        """Return the expression for texts that hold any of the words."""
        return " OR ".join(map(_quoted, self.terms))


def wanted_words(question: str) -> Wanted:
    """Take a question in plain language apart; nothing of it is syntax for the engine."""
    spoken = [word for word in _split(question) if word.casefold() not in _STOP]
    terms = [term for word in spoken for term in _terms(word)]
    return Wanted(tuple(dict.fromkeys(terms)), bool(_split(question)))


def spread(text: str) -> str:
    """Return a text as the index takes it in: signs of scripts without blanks set apart."""
    return _SPREAD.sub(r" \1 ", text)


def place_of(text: str, terms: tuple[str, ...]) -> int:
    """Return where a text first shows one of the words, or a form of one; else 0."""
    folded = folded_text(text)
    places: list[int] = []
    for term in terms:
        stem = folded_text(term.replace(" ", ""))
        stem = stem[: max(4, len(stem) - 2)]  # endings differ
        found = re.search(
            rf"(?<![^\W_]){re.escape(stem)}" if stem.isascii() else re.escape(stem), folded
        )
        if found is not None:
            places.append(found.start())
    return min(places, default=0)


def folded_text(text: str) -> str:
    """Return a text in lower case without accents, each sign at the place that it had."""
    import unicodedata

    if text.isascii():
        return text.lower()
    plain = (unicodedata.normalize("NFKD", letter)[:1].lower()[:1] for letter in text)
    return "".join(letter or " " for letter in plain)


def _split(question: str) -> list[str]:
    """Split at blanks and signs, apostrophes within a word aside."""
    plain = _APOSTROPHES.sub("'", question)
    words = [word.strip("'") for word in plain.split()]
    found: list[str] = []
    for word in words:
        whole = word.strip("".join(map(chr, range(33, 48))) + ":;?!")
        if whole.casefold() in _STOP:
            found.append(whole)
        else:
            found += _SIGNS.split(_TAIL.sub("", word))
    return [word for word in found if any(map(str.isalnum, word))]


def _terms(word: str) -> list[str]:
    """Give the terms of a word: itself, or pairs of signs where a script has no blanks."""
    terms: list[str] = []
    for run in _RUN.findall(word):
        if _SPREAD.match(run) is None:
            terms += [run] if any(map(str.isalnum, run)) else []
        elif len(run) == 1:
            terms.append(run)
        else:
            terms += [f"{first} {second}" for first, second in itertools.pairwise(run)]
    return terms


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'
