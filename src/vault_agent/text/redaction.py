"""Removes secrets from text before it is stored, logged or sent.

Secrets are known by their form: what vendors put before their tokens, and words such as password
beside a value. They are looked for in the text as it is, without its escapes and hidden characters,
and with wrapped lines made whole. Entropy removes nothing, because hashes and IDs are as random as
keys. It only tells what may be one: `doubtful_spans`.

Standard library only, since the hook imports this. Each step is linear in the length of the text.

Tokens have the forms of the table `secrets.txt`. Each form names literal parts that a text must
have before its pattern is tried, so a text without secrets costs little. For a value beside a word,
what stands between them says how sure it is, and the form of the value decides: a call, a path, a
type or a word is no secret.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from vault_agent.text.names import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Iterable


TERMINAL_ESCAPE: Final = (
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[PX^_][^\x1b]*(?:\x1b\\)?"
    r"|\x1b[ -/]*[0-~]|\x9b[0-?]*[ -/]*[@-~]"
)
"""A pattern of what a terminal does not show: colours, titles, the targets of links."""

_HIDDEN: Final = f"\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f\u200c\u200d{HIDDEN}"
_QUOTES: Final = "“”„«»"
_WRITTEN_ESCAPE: Final = r"\\{1,15}(?:u001[bB]|x1[bB]|033|e)\[[0-?]{0,20}[A-Za-z]"
# Escapes of JSON, addresses, HTML, Markdown and terminals, hidden characters, and quotes.
_ESCAPED: Final = re.compile(
    rf"(?P<gone>{TERMINAL_ESCAPE}|{_WRITTEN_ESCAPE}|[{_HIDDEN}]+|\r(?=\n))"
    rf"|\\{{1,15}}(?:u[0-9A-Fa-f]{{4}}|x[0-9A-Fa-f]{{2}}|[\"'/nrtbf`_*~|<>\[\]$#=:^.+-])|[{_QUOTES}]"
    r"|%(?:25){0,3}[0-9A-Fa-f]{2}|&(?:quot|apos|amp|lt|gt|#\d{2,4}|#[xX][0-9A-Fa-f]{2,4});"
)
_HIDDEN_ONE: Final = re.compile(f"[{_HIDDEN}]")
_CONTROL: Final = {"n": "\n", "r": "\r", "t": "\t", "b": " ", "f": " "}
# A line ends inside a run of characters of a token, and the next one begins with a digit near by.
_WRAPPED: Final = re.compile(
    r"(?<=[\w+/=.-]{6})[ \t]{0,4}\\?\r?\n[ \t>|*#+]{0,16}(?=[\w+/=.-]{6})(?=[\w+/=.-]{0,120}[0-9])"
)


class MappedText:
    """A changed text whose places are known in the text that it was made of."""

    def __init__(self, source: str, pattern: re.Pattern[str]) -> None:
        parts: list[str] = []
        self._starts: list[int] = []  # of pieces in the view
        self._pieces: list[tuple[int, int]] = []  # in the source: start, width if replaced
        at = done = 0

        def add(text: str, start: int, width: int = 0) -> None:
            nonlocal at
            self._starts.append(at)
            self._pieces.append((start, width))
            parts.append(text)
            at += len(text)

        for match in pattern.finditer(source):
            start, end = match.span()
            if start > done:
                add(source[done:start], done)
            add("" if match.lastgroup == "gone" else _shown(match[0]), start, end - start)
            done = end
        add(source[done:], done)
        self.text = "".join(parts)
        self.is_same = len(self._starts) == 1

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where a part of the view stands in the source."""
        first, _ = self._piece(start)
        last, width = self._piece(end - 1)
        return first, last + (width or 1)

    def _piece(self, at: int) -> tuple[int, int]:
        place = bisect_right(self._starts, at) - 1
        start, width = self._pieces[place]
        return (start, width) if width else (start + at - self._starts[place], 0)


def _shown(escape: str) -> str:
    if escape[0] == "%":
        character = chr(int(escape[-2:], 16))
    elif escape[0] == "&":
        character = unescape(escape)
    elif escape[0] == "\\":
        name = escape.lstrip("\\")
        if name.endswith("\n"):
            return ""
        character = chr(int(name[1:], 16)) if name[0] in "ux" else _CONTROL.get(name, name)
    elif escape in _QUOTES:
        character = '"'
    else:
        return ""  # the break of a line
    return "" if _HIDDEN_ONE.match(character) else character


class Span(NamedTuple):
    """A secret in a text: where it starts and ends, and its kind."""

    start: int
    end: int
    kind: str


_CHARACTERS: Final = {
    "hex": "[0-9A-Fa-f]",
    "an": "[0-9A-Za-z]",
    "url": "[0-9A-Za-z_-]",
    "b64": "[0-9A-Za-z_+/=-]",
    "dot": r"[0-9A-Za-z_+/=.\-]",
}


class _Form(NamedTuple):
    kind: str
    parts: tuple[str, ...]
    pattern: str
    whole: str = ""  # the pattern of a token of full length, that may be wrapped


def _read() -> tuple[list[_Form], dict[str, list[str]]]:
    """Return the forms of `secrets.txt`, and its lists of words by their names."""
    forms: list[_Form] = []
    words: dict[str, list[str]] = {}
    for line in Path(__file__).with_name("secrets.txt").read_text("utf-8").splitlines():
        columns = line.split("\t")
        if not line or line.startswith("#"):
            continue
        if len(columns) == 2:
            words.setdefault(columns[0], []).extend(columns[1].split("|"))
            continue
        if len(columns) == 3:
            kind, part, pattern = columns
            forms.append(_Form(kind, (part,), pattern))
            continue
        kind, prefixes, characters, least, whole = columns
        one = _CHARACTERS[characters.rstrip("?")]
        parts = tuple(prefixes.split("|"))
        start = rf"(?<![0-9A-Za-z])(?:{'|'.join(map(re.escape, parts))})[ ]?"
        if characters.endswith("?"):
            start += rf"(?=[^0-9\s]{{0,{least}}}[0-9])(?={one}{{{least}}})"
        longest = int(whole)
        wrapped = f"{start}{one}{{{least},{max(longest, int(least))}}}" if longest else ""
        forms.append(_Form(kind, parts, f"{start}{one}{{{least},}}", wrapped))
    return forms, words


_FORMS, _WORDS = _read()


def _pattern(name: str, flags: int = 0) -> re.Pattern[str]:
    """Return the pattern of any word of a list."""
    return re.compile("|".join(_WORDS[name]), flags)


_compiled = cache(re.compile)
_VARIABLE: Final = _pattern("variables")


def tokens(text: str, *, wrapped: bool = False) -> list[Span]:
    """Return the tokens of a text that have the form of a vendor, a key, or a command.

    With `wrapped`, only those of a known length, and no more than that length.
    """
    spans = []
    for form in _FORMS:
        source = form.whole if wrapped else form.pattern
        if source and any(part in text for part in form.parts):
            pattern = _compiled(source)
            group = "it" if "it" in pattern.groupindex else 0
            matches = [m for m in pattern.finditer(text) if not _VARIABLE.match(m[group])]
            spans += [Span(*match.span(group), form.kind) for match in matches]
    return spans


_IS_PASSWORD: Final = frozenset(_WORDS["password-names"])
_WORD: Final = re.compile(
    "|".join(map(re.escape, (*_WORDS["password-names"], *_WORDS["secret-names"])))
)
# Short words count only at the end of a longer name, or as a name that is quoted or an option.
_SHORT: Final = frozenset(_WORDS["short-names"])
_NAME_BEFORE: Final = re.compile(r"[\w.$-]{0,60}\Z")
_KEY_OF: Final = re.compile(f"(?:{'|'.join(_WORDS['key-of'])})[_.-]?\\Z")
_NO_KEY: Final = re.compile(f"(?:{'|'.join(_WORDS['no-key-of'])})[_.-]?\\Z")
_OWNER: Final = re.compile(f"(?:{'|'.join(_WORDS['owners'])})\\Z")
_SUFFIX: Final = rf"(?i:[_-]?(?:{'|'.join(_WORDS['suffixes'])}))?"
_PLAIN: Final = r"[^\s\"'`<>|]"
_VALUE: Final = (
    r"(?:(?:![\w:]{1,20}[ \t])?(?:[bruf]{1,2}|@|\$)?"
    r"(?P<quote>[\"'`])(?P<quoted>(?:(?!(?P=quote))[^\n]){1,500})(?P=quote)"
    rf"|(?P<bare>{_PLAIN}{{1,500}}))"
)
_CLOSING: Final = r"[\"'`*_)\]}]{0,4}"
_SET: Final = re.compile(
    rf"{_SUFFIX}{_CLOSING}[ \t]{{0,20}}(?P<sep>:=|=>|->|==|:|=|：|\|)[*_]{{0,3}}[ \t]{{0,12}}"
    rf"(?:(?:string|str|String|final)[ \t]*=[ \t]*)?(?:![\w:]{1, 20}[ \t])?{_VALUE}"
)
_MARKUP: Final = re.compile(
    rf"{_SUFFIX}[\"']?>(?:<string>)?[ \t]{{0,4}}(?P<bare>[^\s<>]{{4,500}})[ \t]*</"
)
_PAIR: Final = re.compile(
    r"[\"']?[ \t]*,?\s{0,12}[\"']?(?i:value|content|val)[\"']?[ \t]{0,4}[:=][ \t]{0,4}" + _VALUE
)
_CALL: Final = re.compile(r"\([ \t]*(?P<quote>[\"'])(?P<quoted>[^\"'\n]{4,500})[\"']")
_NEXT: Final = re.compile(r"[\"'][ \t]*,[ \t]*(?P<quote>[\"'])(?P<quoted>[^\"'\n]{4,500})[\"']")
_TOLD: Final = re.compile(
    r"[\"'`*_]{0,3}(?:[ \t]{1,3}(?:for|of|to|on|von|für|de|del|du|pour|para|per|zum|zur|der)\b"
    r"[^\n:=.]{1,50}?)?(?:[ \t]{1,3}(?:is|was|ist|lautet|war|est|es|é|è|to|now|jest|är|это|are)"
    r"(?:[ \t]now|[ \t]jetzt)?[ \t]*:?[ \t]{1,3}|[ \t]{1,3}[:=][ \t]{1,3}|"
    r"[ \t]*(?:は|是|为|は「|：|—|–)[ \t]*)[*_]{0,3}" + _VALUE
)
_BESIDE: Final = re.compile(rf"[*_]{{0,3}}[ \t]{{1,4}}{_VALUE}")
_PHRASE: Final = re.compile(
    r"[ \t]*[:=][ \t]*(?P<bare>[a-z]{3,12}(?:[ -][a-z]{3,12}){3,9})[ \t]*$", re.MULTILINE
)
_REST: Final = re.compile(r"[ \t]*(?:$|#|//|--|[;,)}\]&|\"'`]|[\w.]{1,40}=)", re.MULTILINE)

_NO_VALUE: Final = frozenset(_WORDS["no-values"])
_CODE: Final = _pattern("code")
_PATH: Final = _pattern("paths")
_FILE: Final = _pattern("files")
_NO_SECRET: Final = _pattern("no-secrets", re.IGNORECASE)
_HAS_DIGIT: Final = re.compile(r"\d")
_HAS_LETTER: Final = re.compile(r"[^\W\d_]")
_SIGN: Final = re.compile(r"[!#$%^&*+?~@=]")
_THREE_WORDS: Final = re.compile(r"[a-z]{3,16}(?:-[a-z]{3,16}){2,7}")
_QUERY: Final = re.compile(r"&(?=[A-Za-z_][\w.-]{0,40}=)|[;&](?=[A-Za-z][\w .]{0,40}=)|&amp;")


def named_values(text: str) -> list[Span]:
    """Return the values that stand beside words such as password, secret and token."""
    lower = _lowered(text)
    spans: list[Span] = []
    for match in _WORD.finditer(lower):
        span = _value_of(text, lower, match.start(), match.end())
        if span is not None and (not spans or span.start >= spans[-1].start):
            spans.append(span)
    return spans


def _lowered(text: str) -> str:
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(
        character if len(character.lower()) != 1 else character.lower() for character in text
    )


def _value_of(text: str, lower: str, start: int, end: int) -> Span | None:
    word = lower[start:end]
    before_match = _NAME_BEFORE.search(lower, max(0, start - 60), start)
    before = before_match[0] if before_match else ""
    opening = lower[start - len(before) - 1 : start - len(before)] if start > len(before) else ""
    follows = lower[end : end + 1]
    is_password = word in _IS_PASSWORD
    is_weak = False
    if word in _SHORT and not _is_name(word, before, opening, follows):
        if not is_password or before:
            return None
        is_weak = True  # `pass: 3` counts tests
    kind = "password" if is_password else "secret"
    original = text[start - len(before) : end]
    is_environment = original.isupper() and ("_" in original or word not in _SHORT)
    is_option = before.startswith("-") and opening in {" ", "\t", "\n", "", '"', "'"}

    def span(match: re.Match[str] | None, *, place: str) -> Span | None:
        if match is None:
            return None
        groups = match.groupdict()
        quoted = groups.get("quoted")
        group = "quoted" if quoted is not None else "bare"
        at = match.start(group)
        value = match[group] if quoted is not None else _cut(match[group])
        after = _REST.match(text, at + len(value)) is not None
        if not _is_secret(
            value,
            place="weak" if is_weak else place,
            password=is_password,
            quoted=quoted is not None,
            ends=after,
        ):
            return None
        return Span(at, at + len(value), kind)

    if opening in {"<", "/"} or '"' in lower[max(0, start - len(before) - 8) : start]:
        made = span(_MARKUP.match(text, end), place="set")
        if made is not None:
            return made
    setting = _SET.match(text, end)
    if setting is not None and setting["sep"] == "==":
        return None
    if setting is not None:
        cell = setting["sep"] == "|"
        tight = setting["sep"] == "=" and " " not in setting[0][: setting.start("sep") - end + 2]
        sure = is_environment or is_option or (tight and opening in {"?", "&", ";"})
        place = "cell" if cell else "sure" if sure else "set"
        made = span(setting, place=place)
        if made is not None or is_environment:
            return made
    ways = [
        (_PAIR, "call"),
        (_CALL, "call"),
        (_NEXT, "cell"),
        (_TOLD, "told"),
        (_BESIDE, "sure" if is_option else "beside"),
    ]
    if word == "passphrase":
        ways.insert(0, (_PHRASE, "phrase"))
    spans = (span(pattern.match(text, end), place=place) for pattern, place in ways)
    return next(filter(None, spans), None)


def _is_name(word: str, before: str, opening: str, follows: str) -> bool:
    """Whether a short word is the name of a secret: the end of a longer name, quoted, an option."""
    last = before[-1:]
    if word == "key":
        return (
            bool(before)
            and _NO_KEY.search(before) is None
            and (_KEY_OF.search(before) is not None or last in {"_", "-"})
        )
    if last in {"_", "-", "."} and (before.strip("-_.") or before == "_"):
        return True
    if before.startswith("-"):
        return True
    if word in {"psk", "parola", "heslo"}:
        return True
    return opening == ";" or (
        (not before or _OWNER.match(before) is not None)
        and opening in {'"', "'"}
        and follows in {'"', "'"}
    )


def _cut(value: str) -> str:
    """Return a value without what only ends it, or begins the next one."""
    following = _QUERY.search(value)
    if following is not None and following.start() > 0:
        value = value[: following.start()]
    return value.rstrip(",;.)]}」。、*_" if len(value) > 4 else ",;")


def _is_secret(value: str, *, place: str, password: bool, quoted: bool, ends: bool) -> bool:
    """Whether a value is a secret, by its own form and by the place where it stands."""
    if len(value) < 4 or _VARIABLE.match(value) or value.lower() in _NO_VALUE:
        return False
    if place == "phrase":
        return True
    lower = value.lower()
    has_digit = _HAS_DIGIT.search(value) is not None
    has_letter = _HAS_LETTER.search(value) is not None
    signs = len(_SIGN.findall(value))
    if _NO_SECRET.fullmatch(value) and not (password and place == "sure" and has_letter):
        return False
    long_random = len(value) >= 32 and has_digit and has_letter and not set(value) & set(" ()[]")
    if not quoted and not long_random and _CODE.match(value):
        return False
    if _PATH.match(value) or _FILE.match(value) or "://" in value:
        return False
    if any(
        name in lower for name in ("passw", "secret", "token", "contraseñ", "api_key", "apikey")
    ):
        return (
            has_digit and " " not in value and (signs > 0 or (place == "sure" and lower != value))
        )
    if not password:
        return _is_token(value, place, mixed=has_digit and has_letter)
    return _is_password(value, place, quoted=quoted, ends=ends)


def _is_password(text: str, place: str, *, quoted: bool, ends: bool) -> bool:
    has_digit = _HAS_DIGIT.search(text) is not None
    has_letter = _HAS_LETTER.search(text) is not None
    signs = len(_SIGN.findall(text))
    mixed = has_digit and has_letter
    has_capital = text.lower() != text
    if place == "weak":
        return mixed and len(text) >= (6 if signs > 0 or has_capital else 8)
    if place == "cell":
        return mixed and " " not in text
    if place == "beside":
        if quoted:
            return " " not in text and text.isascii()
        return len(text) >= 6 and mixed and (signs > 0 or (has_capital and len(text) >= 8))
    if place == "told":
        if quoted:
            return " " not in text or has_digit
        return has_letter and (has_digit or signs > 0) and text.isascii()
    if quoted or place in {"sure", "call"}:
        return True
    if has_digit:
        return has_letter or signs > 0 or len(text) >= 6
    if signs > 0:
        return has_letter and ends
    is_word = len(text) >= 8 and text.isascii() and text.isalpha() and text.islower()
    return ends and (is_word or _THREE_WORDS.fullmatch(text) is not None)


def _is_token(value: str, place: str, *, mixed: bool) -> bool:
    if " " in value or len(value) < 8 or not value.isascii():
        return False
    if place == "beside":
        return mixed and value.lower() != value and len(value) >= 20
    if place in {"told", "cell", "call"}:
        return mixed and len(value) >= 12
    if mixed:
        return True
    return place == "sure" and len(value) >= 12 and value.isalpha() and value.islower()


PRIVATE = "private"
"""The kind of what stands between `<private>` and `</private>`."""


class RedactedPlace(NamedTuple):
    """One redacted place: the kind of its secret, and its line, from 1."""

    kind: str
    line: int


class Redacted(NamedTuple):
    """A text without its secrets, and what was found in it, in order of the lines."""

    text: str
    places: tuple[RedactedPlace, ...]


_MARKED: Final = re.compile(r"<private>[\s\S]*?(?:</private>|\Z)", re.IGNORECASE)
_OURS = "[redacted: "


def redact(text: str, *, home: str | None = None, more: Iterable[re.Pattern[str]] = ()) -> Redacted:
    """Replace each secret of a text by `[redacted: KIND]`.

    What stands in `<private>…</private>` goes whole, to the end of the text if it is not closed.
    `home` becomes `~`. `more` are patterns of the user's; their matches are of the kind `custom`.
    """
    spans = _spans(text)
    for pattern in more:
        group = "it" if "it" in pattern.groupindex else 0
        for match in pattern.finditer(text):
            if match[group] and not match[group].startswith("[redacted"):
                spans.append(Span(*match.span(group), "custom"))
    parts: list[str] = []
    places: list[RedactedPlace] = []
    done = 0  # where the last secret ends
    line, counted = 1, 0
    spans = [span for span in spans if span.start < span.end]
    for start, end, kind in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start < done:  # a part of the secret before it, or its continuation
            done = max(done, end)
            continue
        parts += text[done:start], f"{_OURS}{kind}]"
        line += text.count("\n", counted, start)
        counted = start
        places.append(RedactedPlace(kind, line))
        done = end
    parts.append(text[done:])
    made = "".join(parts)
    if home and home not in {"/", "\\"}:
        made = re.sub(re.escape(home.rstrip("/\\")) + r"(?![\w.-])", "~", made)
    return Redacted(made, tuple(places))


_ENDS: Final = re.compile(r"\\[nr\"]")


def _spans(text: str) -> list[Span]:
    """Return the secrets of a text, as they stand in it and as a reader would see them."""
    spans = [Span(*match.span(), PRIVATE) for match in _MARKED.finditer(text)]
    view = MappedText(text, _ESCAPED)
    here = [*tokens(text), *named_values(text)]
    if view.is_same:
        spans += here
    else:
        # What is escaped may end a secret: the quote and the next line of JSON inside JSON.
        for start, end, kind in here:
            ends = _ENDS.search(text, start, end)
            spans.append(Span(start, ends.start() if ends else end, kind))
        seen = [*tokens(view.text), *named_values(view.text)]
        spans += [Span(*view.span(secret.start, secret.end), secret.kind) for secret in seen]
    whole = MappedText(view.text, _WRAPPED)
    if not whole.is_same:
        for token in tokens(whole.text, wrapped=True):
            start, end = whole.span(token.start, token.end)
            spans.append(Span(*view.span(start, end), token.kind))
    return spans


_LONG: Final = re.compile(
    r"(?P<known>(?:sha\d{1,3}[-:]|h1:|data:|\bssh-\w{1,12} AAAA|AAAA)[\w+/=;:,.-]*)"
    r"|[0-9A-Za-z+/_=-]{20,}"
)
_RANDOM_LEAST: Final = 20
_WORDS_IN: Final = re.compile(r"[/_=+-]")


def doubtful_spans(text: str) -> list[tuple[int, int]]:
    """Return where a secret of no known form may stand: random characters.

    Hashes and UUIDs, which have no capital letters, are none, and neither are paths and names.
    """
    return [
        match.span()
        for match in _LONG.finditer(text)
        if not match["known"] and _is_random(match[0])
    ]


def _is_random(run: str) -> bool:
    """Whether letters of both cases and digits change as often as they do by chance.

    By chance six of ten neighbours differ in kind. In names and words it is one or two.
    """
    long = [piece for piece in _WORDS_IN.split(run) if len(piece) >= _RANDOM_LEAST]
    for piece in (*long, _WORDS_IN.sub("", run)):
        kinds = [
            0 if character.isdigit() else 1 if character.isupper() else 2 for character in piece
        ]
        changes = sum(one != other for one, other in pairwise(kinds))
        if (
            len(piece) >= _RANDOM_LEAST
            and set(kinds) == {0, 1, 2}
            and changes >= 0.4 * len(piece)
            and len(set(piece)) >= 0.3 * min(len(piece), 40)
        ):
            return True
    return False


_FILES: Final = _pattern("secret-files", re.IGNORECASE)


def is_secret_file(path: str) -> bool:
    """Whether a file's content is never used, by its name: `.env`, `*.pem`, `id_*` and such."""
    return _FILES.search(path) is not None
