"""What the web page shows of one open vault: notes as HTML, and the files in them.

Addresses of files are signed: an image in a page cannot send a key.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import time
from typing import TYPE_CHECKING
from urllib.parse import quote

from vault_agent.config.vault_list import DEFAULT
from vault_agent.errors import TooLarge, Unauthorized
from vault_agent.search.html import Look, html_of_note, html_of_text
from vault_agent.search.note_file import note_file
from vault_agent.system.cancelling import in_thread, open_in_thread, opened_in_thread
from vault_agent.vault.attachments import open_attachment

if TYPE_CHECKING:
    from collections.abc import Callable

    from vault_agent.model.pages import RenderedNote
    from vault_agent.system.workers import TextWorkers
    from vault_agent.vault.attachments import OpenAttachment
    from vault_agent.vaults.runs import VaultCore
    from vault_agent.vaults.secret import Secret
    from vault_agent.vaults.shared import Read


DAY_SECONDS = 86_400
_KEY = re.compile(r"([0-9]{1,12})\.([A-Za-z0-9_-]{43})")


class FileKeys:
    """Makes and checks the code in the address of an attachment.

    A code belongs to one path of one vault. It is valid until the end of the next day (UTC), so
    that the same page has the same addresses for a day.
    """

    def __init__(
        self,
        secret: Secret,
        identity: str,
        full_name: str = DEFAULT,
        *,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Take the secret, the vault's identity, and what requests call it."""
        self._secret = secret
        self._identity = identity
        # The beginning of the paths of the vault's routes.
        self._prefix = "" if full_name == DEFAULT else f"/vaults/{quote(full_name, safe=':')}"
        self._now = now

    @property
    def day(self) -> int:
        """The number of the day, at whose end the addresses change."""
        return int(self._now()) // DAY_SECONDS

    def address(self, path: str) -> str:
        """Return the address of the attachment at a vault-relative path."""
        expiry = (self.day + 2) * DAY_SECONDS
        place = f"{self._prefix}/ui/files/{quote(path, safe='/')}"
        return f"{place}?k={expiry}.{self._mac(path, expiry)}"

    def check(self, path: str, key: str) -> None:
        """Raise UNAUTHORIZED unless `key` is the code of this path, and is still valid."""
        match = _KEY.fullmatch(key)
        expected = self._mac(path, int(match[1])) if match else ""
        if (
            match is None
            or not hmac.compare_digest(match[2], expected)
            or int(match[1]) < self._now()
        ):
            raise Unauthorized(
                "UNAUTHORIZED",
                "The address of this file is not valid, or not any more.",
                remedy="Load its note again.",
            )

    def _mac(self, path: str, expiry: int) -> str:
        key = self._secret.key(f"files of the web page {self._identity}")
        signed = f"{expiry}\n{path}".encode("utf-8", "surrogatepass")
        mac = hmac.digest(key, signed, hashlib.sha256)
        return base64.urlsafe_b64encode(mac).rstrip(b"=").decode()


MAX_SHOWN_BYTES = 50 << 20


class WebView:
    """Renders the notes of one vault for the web page.

    Args:
        core: what the parts of this vault share.
        read: answers from the current snapshot, and again if a run replaces it meanwhile.
        secret: what addresses of files are signed with.
        full_name: of the vault.
        text_workers: renders the notes.
    """

    def __init__(
        self, core: VaultCore, read: Read, secret: Secret, full_name: str, text_workers: TextWorkers
    ) -> None:
        self._read = read
        self._open_root = core.open_root
        self._text_workers = text_workers
        self._keys = FileKeys(secret, core.spec.identity, full_name)

    async def html(self, note_id: str, *, embeds: int) -> RenderedNote:
        """Return a note as HTML, with embedded notes up to a depth."""
        look = Look(embeds, self._keys.address, self._text_workers)
        async with opened_in_thread(self._open_root) as root:
            return await self._read(lambda now: html_of_note(now, root, note_id, look))

    async def html_of_text(self, text: str, path: str, *, embeds: int) -> RenderedNote:
        """Return a text that is not saved as HTML, as if it were the note at `path`."""
        look = Look(embeds, self._keys.address, self._text_workers)
        file = await in_thread(note_file, text)
        async with opened_in_thread(self._open_root) as root:
            return await self._read(lambda now: html_of_text(now, root, file, path, look))

    async def open_file(self, path: str, key: str) -> OpenAttachment:
        """Open a file whose address is signed. The caller must enter it before the next `await`.

        Raises:
            Unauthorized: `UNAUTHORIZED`.
            TooLarge: `ATTACHMENT_TOO_LARGE` over 50 MiB.
            VaultAgentError: the errors of `describe`.
        """
        self._keys.check(path, key)

        def open_it() -> OpenAttachment:
            with self._open_root() as root:
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
