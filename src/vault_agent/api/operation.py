"""An operation, and the one way to run it."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from vault_agent.api.bounds import bounded
from vault_agent.api.encoding import encoded
from vault_agent.errors import Misconfigured, NotFound
from vault_agent.wire.base import Model

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from vault_agent.api.caller import Caller
    from vault_agent.library.open_vault import OpenVault
    from vault_agent.wire.replies import Reply

Sent = TypeVar("Sent", bound=Model)
Got = TypeVar("Got")


class Found(NamedTuple):
    """What an operation that replies has found; `etag` changes with the content."""

    reply: Reply[Any]
    etag: str | None = None


class Outcome(NamedTuple):
    """A reply within its bounds, and the same as JSON."""

    reply: Reply[Any]
    body: bytes
    etag: str | None


@dataclass(frozen=True, slots=True)
class Operation(Generic[Sent, Got]):
    """Something that can be asked.

    Args:
        name: its name in every protocol.
        request: the model of what is sent.
        run: does it. Its docstring is the summary.
        replies: the models of the reply; none for an operation that opens a stream.
        codes: the errors of its own, besides those of every operation.
        writes: whether it changes anything: notes, the index or jobs.
        needs: the setting that switches it on, such as `write.enabled`; None if it is always on.
        listed: the list in the reply's data that is cut where the reply would be too large.
    """

    name: str
    request: type[Sent]
    run: Callable[[OpenVault, Caller, Sent], Awaitable[Got]]
    replies: tuple[type[Model], ...] = ()
    codes: tuple[str, ...] = ()
    writes: bool = False
    needs: str | None = None
    listed: str | None = None

    @property
    def summary(self) -> str:
        """What it does, in a sentence."""
        return inspect.getdoc(self.run) or ""


async def perform(
    operation: Operation[Sent, Got], vault: OpenVault, caller: Caller, sent: Sent
) -> Got:
    """Run an operation, if it is switched on and open to the caller.

    Raises:
        Misconfigured: `FEATURE_DISABLED` with `details.setting`.
        NotFound: `ROUTE_NOT_FOUND`; an operation that is closed to a caller does not exist for it.
        VaultAgentError: the codes of the operation.
    """
    if not caller.may_do_everything:
        raise NotFound("ROUTE_NOT_FOUND", "There is no such operation.", remedy="")
    if operation.needs is not None and attrgetter(operation.needs)(vault.config) is not True:
        raise Misconfigured(
            "FEATURE_DISABLED",
            f"This is switched off: {operation.needs} is not true.",
            {"setting": operation.needs},
        )
    return await operation.run(vault, caller, sent)


async def answer(
    operation: Operation[Sent, Found], vault: OpenVault, caller: Caller, sent: Sent
) -> Outcome:
    """Run an operation and return its reply, which is never larger than its bound.

    Raises:
        VaultAgentError: as `perform`.
    """
    found = await perform(operation, vault, caller, sent)
    if operation.listed is None:
        return Outcome(found.reply, await encoded(found.reply), found.etag)
    return Outcome(*bounded(found.reply, operation.listed), found.etag)
