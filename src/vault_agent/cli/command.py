"""Commands and groups that accept the global options before or after the command; exit codes."""

from __future__ import annotations

import os
import tomllib
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import asyncclick as click

from vault_agent import __version__
from vault_agent.cli.terminal import clean, complain, pass_on, tell
from vault_agent.config.setting_names import CONFIG_ENV
from vault_agent.errors import Misconfigured, Unavailable, explained
from vault_agent.system.files import is_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from vault_agent.client.client import Client, Reply
    from vault_agent.config.layers import Layer
    from vault_agent.errors import VaultAgentError

_SERVERS = ("vault.root", "server.endpoint")
"""The settings that say which server is meant. One of them must be set."""
_FIRST = "First run `vault-agent setup`, or name a server with --endpoint."
_LONGEST_SENTENCE = 1_000  # characters
WITH_VALUE = ("--config", "--endpoint", "--api-key", "--vault")
"""Global options that are followed by a value."""


@dataclass
class Invocation:
    """The global options. Each `click` context has this object as `obj`."""

    config: Path | None = None
    endpoint: str | None = None
    api_key: str | None = field(default=None, repr=False)
    json: bool = False
    vault: str | None = None
    vaults: tuple[str, ...] = ()
    """Several vaults that are named, if the command may be about several. Then `vault` is None."""
    here: tuple[str, ...] | None = field(default=None, repr=False)
    """The vaults of the project, as `cli.names` finds them."""

    def layers(self, more: Mapping[str, Any] | None = None) -> tuple[Layer, ...]:
        """Return the settings in force, before they are validated. `more` are further flags."""
        from vault_agent.config.layers import read_layers

        flags = {"server.endpoint": self.endpoint, "server.api_key": self.api_key, **(more or {})}
        return read_layers(flags, self.config)

    def named_config(self) -> Path | None:
        """Return the config file that was named, by a flag or a variable, or None."""
        from vault_agent.config.layers import config_path

        named = self.config is not None or CONFIG_ENV in os.environ
        return config_path(self.config) if named else None

    def passed_on(self, reply: Reply) -> bool:
        """Print the reply itself if JSON is wanted. Return whether it was."""
        if self.json:
            pass_on(reply.body)
        return self.json

    @contextmanager
    def client(self, *, changes_index: bool = False, starts: bool = True) -> Iterator[Client]:
        """Yield a client of the configured server. With `starts`, start it if none runs.

        Its calls wait then for an index that is being built.

        If the server serves another vault than `vault.root` names, the user is warned. With
        `changes_index` and without `--endpoint`, Misconfigured VAULT_MISMATCH is raised instead,
        before anything is yielded.

        Raises:
            Unavailable: `SERVER_UNAVAILABLE` if no setting names a vault or a server.
        """
        from vault_agent.client.client import Client
        from vault_agent.config.fast_settings import connection, names_any, own_server

        layers = self.layers()
        where = connection(layers)
        if not names_any(layers, *_SERVERS):
            # Whatever listens at the usual port may serve another vault, and be another user's.
            raise Unavailable("SERVER_UNAVAILABLE", "No vault is set yet.", remedy=_FIRST)
        if starts and own_server(layers) is None:
            from vault_agent.cli.detached import wake  # slow, and seldom needed

            wake(layers, self.config)
            layers = self.layers()  # it may have made its key
            where = connection(layers)
        refuse = changes_index and self.endpoint is None and self.vault is None
        check = partial(_check_vault, layers, where.endpoint, refuse=refuse)
        client = Client(where.endpoint, where.api_key, on_vault=check)
        client.vault_name = self.vault
        client.on_wait = _tell_wait if starts else None
        if refuse and _configured_vault(layers) is not None:
            client.call("GET /health")  # it is checked before anything is changed
        yield client


def _tell_wait(what: str) -> None:
    tell(f"{clean(what)} This goes on when it is ready …")


def _configured_vault(layers: Sequence[Layer]) -> tuple[str, Path] | None:
    """Return the identity and the folder of the vault that the settings name, or None."""
    from vault_agent.config import rules
    from vault_agent.config.fast_settings import vault_root

    try:
        folder = vault_root(layers)
    except Misconfigured:
        return None  # not a path: the commands that need the folder report that
    return None if folder is None else (rules.vault_identity(folder), folder)


def _check_vault(layers: Sequence[Layer], endpoint: str, served: str, *, refuse: bool) -> None:
    """Warn if the server serves another vault than the settings name, or raise VAULT_MISMATCH."""
    configured = _configured_vault(layers)
    if configured is None or configured[0] == served:
        return
    what = f"The server at {endpoint} serves another vault than vault.root names."
    if refuse:
        raise Misconfigured("VAULT_MISMATCH", what)
    if is_folder(configured[1]):
        what = explained("VAULT_MISMATCH", what)
    else:
        what += " That folder does not exist: make it, or correct vault.root."
    complain("VAULT_MISMATCH", what, look="warning")


def read_table(name: str) -> dict[str, Any]:
    """Return what a TOML file of this package has: the data of commands."""
    return tomllib.loads(Path(__file__).with_name(name).read_text("utf-8"))


class GlobalOption(click.Option):
    """An option that belongs to the program and may follow any command."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return what the program's own help says. That of a command leaves the option out."""
        return super().get_help_record(ctx) if ctx.parent is None else None


def _keep(context: click.Context, option: click.Parameter, value: Any) -> None:
    # An option before the command stays in force if it is not repeated after it.
    if value not in (None, False) and option.name is not None:
        setattr(context.obj, option.name, value)


def _keep_vaults(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> None:
    """Add the vaults to those that were named before the command."""
    del option
    if not all(map(str.strip, values)):
        raise click.UsageError("--vault is empty", context)
    if context.obj is None:
        return  # nothing is run: a completion
    invocation: Invocation = context.obj
    before = invocation.vaults if invocation.vault is None else (invocation.vault,)
    named = tuple(dict.fromkeys((*before, *values)))
    is_command = not isinstance(context.command, click.Group)
    takes_several = any(option.name == "all_vaults" for option in context.command.params)
    if len(named) > 1 and is_command and not takes_several:
        raise click.UsageError(
            "--vault is given twice, and only `search` and `related` take several", context
        )
    invocation.vault = named[0] if len(named) == 1 else None
    invocation.vaults = named if len(named) > 1 else ()


def _print_version(context: click.Context, option: click.Parameter, value: bool) -> None:
    del option
    if value and not context.resilient_parsing:
        click.echo(f"vault-agent {__version__}")
        raise click.exceptions.Exit(0)


def _global_options() -> list[GlobalOption]:
    option = partial(GlobalOption, expose_value=False, callback=_keep)
    return [
        option(
            ["--config"],
            type=click.Path(dir_okay=False, path_type=Path),
            help="Config file to use instead of the default one.",
        ),
        option(["--endpoint"], metavar="URL", help="URL of the server."),
        option(
            ["--api-key"],
            metavar="KEY",
            help="Key for the server. Prefer VAULT_AGENT_SERVER_API_KEY: other users can see"
            " arguments.",
        ),
        GlobalOption(
            ["--vault"],
            metavar="NAME",
            multiple=True,
            expose_value=False,
            callback=_keep_vaults,
            help="Use another vault, as `vault-agent vaults` names it."
            " `search` and `related` take several.",
        ),
        option(["--json"], is_flag=True, help="Print JSON."),
        option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            callback=_print_version,
            help="Print the version.",
        ),
    ]


class _WithGlobalOptions(click.Command):
    """What accepts the global options."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("context_settings", {"help_option_names": ["-h", "--help"]})
        kwargs.setdefault("epilog", "Global options, such as --json: vault-agent --help")
        super().__init__(*args, **kwargs)
        self.params.extend(_global_options())


class Command(_WithGlobalOptions):
    """A command that also accepts the global options. Its function gets the invocation first."""

    # The parser would quote the extra arguments, which may contain a query or a key.
    allow_extra_args = True

    def __init__(self, *args: Any, callback: Callable[..., Any], **kwargs: Any) -> None:
        super().__init__(*args, callback=click.pass_obj(callback), **kwargs)

    async def invoke(self, ctx: click.Context) -> Any:
        """Run the command, or report extra arguments."""
        if ctx.args and not any(isinstance(parameter, click.Argument) for parameter in self.params):
            raise click.UsageError(f"`{ctx.info_name}` takes no argument", ctx)
        if ctx.args:
            takes_text = any("--text" in parameter.opts for parameter in self.params)
            more = ", and give the text with --text" if takes_text else ""
            raise click.UsageError(
                f"Too many arguments: put quotes around an argument with spaces{more}", ctx
            )
        return await super().invoke(ctx)


class Group(_WithGlobalOptions, click.Group):
    """A group of such commands."""

    command_class = Command

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands before the options."""
        self.format_commands(ctx, formatter)
        click.Command.format_options(self, ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each command with its whole first sentence, which wraps."""
        named = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        with formatter.section("Commands"):
            formatter.write_dl(
                [
                    (name, command.get_short_help_str(_LONGEST_SENTENCE))
                    for name, command in named
                    if command is not None and not command.hidden
                ]
            )


Group.group_class = Group


class Noun(Group):
    """A group that is a command too: `links NOTE` shows links, and `links check` checks them."""

    bare: Bare

    def by_itself(self, function: Callable[..., Any]) -> Bare:
        """Let a function be the command of the noun without a verb. It gives the help."""
        self.bare = click.command(self.name, cls=Bare, noun=self)(function)
        self.help = self.bare.help
        return self.bare

    async def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Return the context of the verb that is typed, or of the noun by itself.

        A noun that lists by itself does so with the verb `list` too.
        """
        lists = not any(one.required for one in self.bare.params)
        if lists and args[:1] == ["list"] and "list" not in self.commands:
            args = args[1:]
        completes = parent is not None and parent.resilient_parsing and not args
        if completes or self._has_verb(args):
            return await super().make_context(info_name, args, parent, **extra)
        return await self.bare.make_context(info_name, args, parent, **extra)

    def _has_verb(self, arguments: list[str]) -> bool:
        words = iter(arguments)
        for word in words:
            if word in WITH_VALUE:
                next(words, None)
            elif word != "--json":
                takes_any = any(isinstance(one, click.Argument) for one in self.bare.params)
                return word in self.commands or not (takes_any or word.startswith("-"))
        return False


class Bare(Command):
    """The command of a noun without a verb. Its help names the verbs."""

    def __init__(self, *args: Any, noun: Noun, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.noun = noun

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs before the options."""
        if self.noun.commands:
            self.noun.format_commands(ctx, formatter)
        super().format_options(ctx, formatter)


def require_utf8(arguments: list[str]) -> None:
    """Raise UsageError for arguments that are not valid UTF-8. JSON cannot contain them."""
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise click.UsageError("an argument is not valid UTF-8") from None


def asks_for_json(arguments: list[str]) -> bool:
    """Whether `--json` is among the arguments, even if parsing fails before it."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return "--json" in arguments[:end]


class Exit(IntEnum):
    """The exit codes with their meanings, which never change."""

    meaning: str

    def __new__(cls, value: int, meaning: str) -> Exit:
        """Make a member from its number and its meaning."""
        member = int.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member

    SUCCESS = 0, "success"
    FAILURE = 1, "failure"
    USAGE = 2, "usage or configuration"
    AUTHENTICATION = 3, "authentication"
    NOT_FOUND = 4, "not found: a note, a folder, a chunk, an attachment, a job or the index"
    BUSY = 5, "busy"
    LINKS_FOUND = 6, "`links check` found broken links"
    NOTE_CHANGED = 7, "a write was refused because the note has changed, or is being changed"
    INTERRUPTED = 130, "interrupted by Ctrl-C"  # 128 + SIGINT, as in shells
    NO_READER = 141, "the reader of the output has closed it"  # 128 + SIGPIPE


def exit_code(error: VaultAgentError) -> int:
    """Return the exit code for an error."""
    from vault_agent.codes import CODES  # most commands end without an error

    row = CODES.get(error.code)
    return row.exit if row is not None and row.exit is not None else Exit.FAILURE
