"""What the web page shows of one open vault: notes as HTML, and the files in them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from vault_agent.config.registry import DEFAULT
from vault_agent.errors import TooLarge
from vault_agent.search.html import Look, html_of_note, html_of_text
from vault_agent.search.note_file import note_file
from vault_agent.system.cancelling import in_thread, open_in_thread, opened_in_thread
from vault_agent.vault.attachments import open_attachment
from vault_agent.vaults.file_keys import FileKeys

if TYPE_CHECKING:
    from collections.abc import Callable

    from vault_agent.model.pages import RenderedNote
    from vault_agent.system.allowance import Allowance
    from vault_agent.vault.attachments import OpenAttachment
    from vault_agent.vault.root import VaultRoot
    from vault_agent.vaults.secret import Secret
    from vault_agent.vaults.shared import Read

MAX_SHOWN_BYTES = 50 << 20


class Pages:
    """Renders the notes of one vault.

    Args:
        read: answers from the current snapshot, and again if a run replaces it meanwhile.
        open_vault: opens the vault's folder.
        secret: what addresses of files are signed with.
        vault: the identity of the vault.
        address: what requests call the vault.
        allowance: renders the notes.
    """

    def __init__(
        self,
        read: Read,
        open_vault: Callable[[], VaultRoot],
        secret: Secret,
        vault: str,
        address: str,
        *,
        allowance: Allowance,
    ) -> None:
        self._read = read
        self._open_vault = open_vault
        self._allowance = allowance
        self._keys = FileKeys(secret, vault, lambda: _prefix(address))

    async def html(self, note_id: str, *, embeds: int) -> RenderedNote:
        """Return a note as HTML, with embedded notes up to a depth."""
        look = Look(embeds, self._keys.address, self._allowance)
        async with opened_in_thread(self._open_vault) as root:
            found: RenderedNote = await self._read(
                lambda now: html_of_note(now, root, note_id, look)
            )
        return found

    async def html_of_text(self, text: str, path: str, *, embeds: int) -> RenderedNote:
        """Return a text that is not saved as HTML, as if it were the note at `path`."""
        look = Look(embeds, self._keys.address, self._allowance)
        file = await in_thread(note_file, text)
        async with opened_in_thread(self._open_vault) as root:
            found: RenderedNote = await self._read(
                lambda now: html_of_text(now, root, file, path, look)
            )
        return found

    async def open_file(self, path: str, key: str) -> OpenAttachment:
        """Open a file whose address is signed. The caller must enter it before the next `await`.

        Raises:
            Unauthorized: `UNAUTHORIZED`.
            TooLarge: `ATTACHMENT_TOO_LARGE` over 50 MiB.
            VaultAgentError: the errors of `describe`.
        """
        self._keys.check(path, key)

        def open_it() -> OpenAttachment:
            with self._open_vault() as root:
                opened = open_attachment(root, path, allow_large=True)
            if opened.info.size > MAX_SHOWN_BYTES:
                opened.file.close()
                raise TooLarge(
                    "ATTACHMENT_TOO_LARGE",
                    "The file is larger than 50 MiB.",
                    {"size": opened.info.size, "limit": MAX_SHOWN_BYTES},
                    remedy="",
                )
            return opened

        return await open_in_thread(open_it)


def _prefix(address: str) -> str:
    """Return what the paths of a vault's routes begin with."""
    return "" if address == DEFAULT else f"/vaults/{quote(address, safe=':')}"
