"""The exceptions of vault-agent, and the messages of errors and warnings.

An exception says what happened. The table of `codes` adds the remedy, the HTTP status and the exit
code. A message contains nothing private: no note text, query, key or absolute path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.codes import Remedy


class VaultAgentError(Exception):
    """An error with a stable `code` and a message without private data.

    Args:
        code: a code of `CODES`.
        what: what happened, as a sentence.
        details: values without private data. They fill the placeholders of the remedy.
        remedy: replaces the table's remedy; "" if `what` already contains it.
        indexing: whether an index job runs that may solve the problem.
    """

    def __init__(
        self,
        code: str,
        what: str,
        details: Mapping[str, Any] | None = None,
        *,
        remedy: str | None = None,
        indexing: bool = False,
    ) -> None:
        self.code = code
        self.what = what
        self.details: dict[str, Any] = dict(details or {})
        self.message = explained(code, what, self.details, remedy=remedy, indexing=indexing)
        self._is_from_table = remedy is None
        self._indexing = indexing
        super().__init__(f"{code}: {self.message}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).__new__, (type(self), *self.args), self.__dict__

    def over_http(self, before: str = "") -> tuple[str, dict[str, Any]]:
        """Return the message and the details for a caller over HTTP, after this text."""
        if not self._is_from_table:
            return before + self.message, self.details
        return for_http(self.code, before + self.what, self.details, indexing=self._indexing)

    def again(self, path: str | None = None) -> Self:
        """Return a new error that is equal: a stored one would keep the traceback of each raise.

        With the `path` of the file that it is about, the message begins with it.
        """
        what, remedy = (self.what, None) if self._is_from_table else (self.message, "")
        details = self.details
        if path is not None:
            what, details = f"{path}: {what}", {**details, "path": path}
        return type(self)(self.code, what, details, remedy=remedy, indexing=self._indexing)


class InvalidRequest(VaultAgentError):
    """The request is malformed or out of range. The same request fails again."""


class Unauthorized(VaultAgentError):
    """The key is missing or wrong, or none is configured although one is required."""


class Forbidden(VaultAgentError):
    """The caller may not do this."""


class NotFound(VaultAgentError):
    """There is no such note, chunk, attachment, job or route."""


class IndexUnavailable(VaultAgentError):
    """There is no index, or the index cannot be queried."""


class Busy(VaultAgentError):
    """Another process or job already uses what only one may use."""


class Conflict(VaultAgentError):
    """The state of a note or vault does not allow the request: it must be repeated otherwise."""


class TooLarge(VaultAgentError):
    """The size is over a limit."""


class Unsupported(VaultAgentError):
    """The media type, encoding or method is not supported."""


class Unavailable(VaultAgentError):
    """A required process does not answer."""


class Misconfigured(VaultAgentError):
    """The settings, or the files that they name, must be changed first."""


class Failed(VaultAgentError):
    """The work could not be completed."""


CLASSES: Final[dict[str, type[VaultAgentError]]] = {
    kind.__name__: kind for kind in VaultAgentError.__subclasses__()
}
"""The classes of errors by their names, as `codes` has them."""


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 note`, `1,200 notes`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def explained(
    code: str,
    what: str,
    details: Mapping[str, Any] | None = None,
    *,
    remedy: str | None = None,
    indexing: bool = False,
) -> str:
    """Return the message of an error or a warning at a terminal: what happened, then the remedy.

    The remedy is the table's unless one is given. If a detail that it needs is missing, it is left
    out.
    """
    if remedy is None:
        texts = _remedy(code, indexing=indexing)
        remedy = _filled(texts if isinstance(texts, str) else texts.terminal, details)
    return f"{what} {remedy}" if remedy else what


def for_http(
    code: str, what: str, details: Mapping[str, Any], *, indexing: bool = False
) -> tuple[str, dict[str, Any]]:
    """Return the message and the details of an error or a warning for a caller over HTTP.

    If a terminal or a model needs another remedy, the details have `what` happened without one.
    """
    texts = _remedy(code, indexing=indexing)
    if isinstance(texts, str):
        return explained(code, what, details, indexing=indexing), dict(details)
    remedy = _filled(texts.http, details)
    return f"{what} {remedy}" if remedy else what, {**details, "what": what}


def at_terminal(code: str, message: str, details: Mapping[str, Any]) -> str:
    """Return the message of an error or a warning of HTTP as it is at a terminal."""
    what = details.get("what")
    if not isinstance(what, str):
        return message
    return explained(code, what, details, indexing="jobId" in details)


def _remedy(code: str, *, indexing: bool) -> str | Remedy:
    from vault_agent.codes import CODES  # late: the hook of agents has no use for it

    described = CODES.get(code)
    return "" if described is None else (indexing and described.indexing) or described.remedy


def _filled(remedy: str, details: Mapping[str, Any] | None) -> str:
    """Return a remedy with its details, or "" if one is missing."""
    setting = str((details or {}).get("setting", ""))
    feature = {"feature": setting.partition(".")[0]} if setting else {}
    try:
        return remedy.format_map({**feature, **(details or {})})
    except KeyError:
        return ""


def switched_off(setting: str) -> Misconfigured:
    """Return the error of a feature whose setting, such as `write.enabled`, is not true."""
    what = f"This is switched off: {setting} is not true."
    return Misconfigured("FEATURE_DISABLED", what, {"setting": setting})


def error_of(code: str, message: str, details: Mapping[str, Any] | None = None) -> VaultAgentError:
    """Return the error that another process has sent, with its class and complete message.

    An unknown code becomes InvalidRequest if it begins with `INVALID_`, and Failed otherwise.
    """
    from vault_agent.codes import CODES

    described = CODES.get(code)
    if described is not None and described.error is not None:
        error = CLASSES[described.error]
    else:
        error = InvalidRequest if code.startswith("INVALID_") else Failed
    if details and isinstance(what := details.get("what"), str):
        others = {name: value for name, value in details.items() if name != "what"}
        return error(code, what, others, indexing="jobId" in others)
    return error(code, message, details, remedy="")
