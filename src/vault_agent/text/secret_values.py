"""Values beside words such as password, token and key, in settings, code, commands and messages.

A word is found first, then what stands between it and its value says how sure it is. Whether the
value is a secret is decided by its own form: a call, a path, a type or a word is none. Standard
library only. Each step is bounded, so that all is linear in the length of the text.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from vault_agent.text.secret_tokens import Span, is_variable

_PASSWORDS: Final = (
    "password", "passwd", "passphrase", "passwort", "passcode", "kennwort", "contraseña",
    "contrasena", "mot de passe", "motdepasse", "senha", "wachtwoord", "hasło", "пароль",
    "パスワード", "密码", "密碼", "口令", "비밀번호", "lösenord", "salasana", "adgangskode",
    "şifre", "heslo", "parola", "pwd", "pass", "psk", "pw",
)  # fmt: skip
_SECRETS: Final = (
    "secret key", "secret", "token", "api key", "api-key", "api_key", "apikey", "access key",
    "access-key", "access_key", "accesskey", "private key", "account key", "license key",
    "encryption key",
    "recovery code", "backup codes", "backup code", "jsessionid", "phpsessid",
    "schlüssel", "トークン", "密钥", "токен", "client-key-data",
    "credentials", "credential", "auth", "key", "jeton", "connectionstring",
)  # fmt: skip
_WORD: Final = re.compile("|".join(map(re.escape, (*_PASSWORDS, *_SECRETS))))
_IS_PASSWORD: Final = frozenset(_PASSWORDS)
# Short words count only at the end of a longer name, or as a name that is quoted or an option.
_SHORT: Final = frozenset({"pass", "pw", "auth", "key", "pwd", "psk", "parola", "heslo"})
_NAME_BEFORE: Final = re.compile(r"[\w.$-]{0,60}\Z")
_KEY_OF: Final = re.compile(
    r"(?:api|access|private|secret|auth|account|shared|subscription|encrypt\w*|sign\w*|master"
    r"|licen[sc]e|client|service|session|deploy|app|storage|admin|server|root|webhook|consumer"
    r"|preshared|pre_shared|crypt\w*|jwt|hmac|user|integration|write|read|ingest|management|rest"
    r"|production|prod|live|test|dev|team|project|machine|ssh|tls|ssl|host|db|data)[_.-]?\Z"
)
_NO_KEY: Final = re.compile(
    r"(?:public|cache|primary|foreign|sort|partition|idempotency|row|group|lookup|hash|index|dict"
    r"|map|object|s3|site|publishable|translation|i18n|query|storage_?object|redis)[_.-]?\Z"
)
_OWNER: Final = re.compile(r"(?:db|user|my|smtp|mail|root|admin|ftp|ssh|sudo|database|login)\Z")
_SUFFIX: Final = (
    r"(?i:[_-]?(?:prod|production|dev|development|test|staging|live|base|value|string|plain|text"
    r"|\d{1,3}))?"
)
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

_NO_VALUE: Final = frozenset(
    # Types, states, and what messages say of a password.
    """
    string str text bytes byte none null nil true false undefined optional required any
    unknown hidden hashed changed unchanged incorrect invalid wrong missing empty expired
    redacted masked secret default example placeholder yourpassword changeme_placeholder
    number integer boolean object array void never varchar textfield charfield secretstr
    safestring protected encrypted plaintext generated username email login logout input
    output value values field label type error errors failed failure success reset update
    updated create created delete deleted forgot forgotten remember confirm confirmed
    confirmation strength length policy manager prompt authentication authorization
    authenticated basic bearer digest disabled enabled available obligatoire obligatorio
    erforderlich vergessen abgelaufen siehe requerida oublié obrigatória обязателен
    unavailable necessary mandatory supported unsupported deprecated stored somewhere anything
    something nothing everything request response credentials private final public readonly
    readwrite writeonly sensitive environment interactive
    """.split()  # noqa: SIM905 - as a list it has 150 lines
)
_CODE: Final = re.compile(
    r"[A-Za-z_$][\w$]*(?:(?:\??\.|::|->)[A-Za-z_$][\w$]*)*(?:[(\[]|\?\.|!\.)|"
    r"(?:[A-Za-z_$][\w$]{0,30}(?:\??\.|::|->))+[A-Za-z_$][\w$]{0,30}[;,)!]{0,3}\Z|"
    r"(?:await|new|function|lambda|def|not|async|typeof|return|self|this)\b|[(\[{]\W|[(\[][\w.]+[.(\[]|\W{1,3}\Z|[=!]=|=>"
)
_PATH: Final = re.compile(
    r"(?:~|\.{1,2}|[A-Za-z]:)?(?:[/\\][A-Za-z._@ -]{1,60}\d{0,3}){2,}[/\\]?(?:\.\w{1,8})?\Z"
    r"|(?:~|\.{1,2})?/[\w./-]*\.[a-z]{2,5}\Z"
)
_FILE: Final = re.compile(
    r"[\w-]{1,80}\.(?:pem|key|crt|txt|json|ya?ml|env|toml|md|py|js|ts|go|rs|sh|conf|ini|lock)\Z"
)
_NO_SECRET: Final = re.compile(
    r"(?i:\d{4}-\d\d-\d\d\S*|v?\d+(?:\.\d+){1,3}\S{0,12}|\d+[.,]?\d*-?[a-z%]{1,12}|0x[0-9a-f]{1,8}"
    r"|(?:sha|md|aes|rsa|utf|base|hs|rs|es|oauth|http|x|argon|bcrypt|pbkdf|blake|ed|p|tls|v)[-_]?\d"
    r"[\w-]{0,20}|https?://\S*|#[0-9a-f]{3,8}|\d+[/:x]\d+|[-*.=_#~]+)\Z"
)
_HAS_DIGIT: Final = re.compile(r"\d")
_HAS_LETTER: Final = re.compile(r"[^\W\d_]")
_IDENTIFIER: Final = re.compile(r"[A-Za-z][\w.-]{0,60}\Z")
_SIGN: Final = re.compile(r"[!#$%^&*+?~@=]")
_THREE_WORDS: Final = re.compile(r"[a-z]{3,16}(?:-[a-z]{3,16}){2,7}")
_QUERY: Final = re.compile(r"&(?=[A-Za-z_][\w.-]{0,40}=)|[;&](?=[A-Za-z][\w .]{0,40}=)|&amp;")


def named_values(text: str) -> list[Span]:
    """Return the values that stand beside words such as password, secret and token."""
    lower = _lowered(text)
    found: list[Span] = []
    for match in _WORD.finditer(lower):
        span = _value_of(text, lower, match.start(), match.end())
        if span is not None and (not found or span.start >= found[-1].start):
            found.append(span)
    return found


def _lowered(text: str) -> str:
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(each if len(each.lower()) != 1 else each.lower() for each in text)


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
    given = _SET.match(text, end)
    if given is not None and given["sep"] == "==":
        return None
    if given is not None:
        cell = given["sep"] == "|"
        tight = given["sep"] == "=" and " " not in given[0][: given.start("sep") - end + 2]
        sure = is_environment or is_option or (tight and opening in {"?", "&", ";"})
        place = "cell" if cell else "sure" if sure else "set"
        made = span(given, place=place)
        if made is not None or is_environment:
            return made
    if word == "passphrase":
        made = span(_PHRASE.match(text, end), place="phrase")
        if made is not None:
            return made
    for pattern, place in ((_PAIR, "call"), (_CALL, "call"), (_NEXT, "cell")):
        made = span(pattern.match(text, end), place=place)
        if made is not None:
            return made
    made = span(_TOLD.match(text, end), place="told")
    if made is None:
        place = "sure" if is_option else "beside"
        made = span(_BESIDE.match(text, end), place=place)
    return made


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
    if len(value) < 4 or is_variable(value) or value.lower() in _NO_VALUE:
        return False
    if place == "phrase":
        return True
    lower = value.lower()
    has_digit = _HAS_DIGIT.search(value) is not None
    has_letter = _HAS_LETTER.search(value) is not None
    signs = len(_SIGN.findall(value))
    if _NO_SECRET.match(value) and not (password and place == "sure" and has_letter):
        return False
    long_random = len(value) >= 32 and has_digit and has_letter and not set(value) & set(" ()[]")
    if not quoted and not long_random and _CODE.match(value):
        return False
    if _PATH.match(value) or _FILE.match(value) or "://" in value:
        return False
    if any(
        each in lower for each in ("passw", "secret", "token", "contraseñ", "api_key", "apikey")
    ):
        return (
            has_digit and " " not in value and (signs > 0 or (place == "sure" and lower != value))
        )
    if not password:
        return _is_token(value, place, mixed=has_digit and has_letter)
    about = _Value(value, has_digit, has_letter, signs, quoted, ends)
    return _is_password(about, place)


class _Value(NamedTuple):
    text: str
    has_digit: bool
    has_letter: bool
    signs: int
    quoted: bool
    ends: bool  # nothing but a comment, a sign or the next setting follows


def _is_password(value: _Value, place: str) -> bool:
    text, has_digit, has_letter, signs, quoted, ends = value
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
    if place == "told":
        return mixed and len(value) >= 12
    if place in {"cell", "call"}:
        return mixed and len(value) >= 12
    if mixed:
        return True
    return place == "sure" and len(value) >= 12 and value.isalpha() and value.islower()
