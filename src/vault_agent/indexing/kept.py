"""Texts of attachments, kept by the hash of the file, so that each content is read once.

Every run takes the text from here. The worker that reads attachments writes the files; a run that
removes or replaces an attachment removes those whose content the index no longer has.
"""

from __future__ import annotations

import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import orjson

from vault_agent.extract.parts import Part
from vault_agent.extract.read import EXTRACT_VERSION
from vault_agent.model.warning import Warning
from vault_agent.system.files import make_private_folder, replace_file

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

_VERSION = f"-{EXTRACT_VERSION}"
_LEVEL = 1  # of the compression: reading must be fast


class KeptText(NamedTuple):
    """What reading an attachment has given."""

    parts: tuple[Part, ...] = ()
    warnings: tuple[Warning, ...] = ()  # without the path: several files may have this content
    left_out: bool = False  # whether the file has no place in the index at all


class KeptTexts:
    """The folder of texts of one index."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def has(self, kind: str, digest: bytes) -> bool:
        """Whether the text of a content is kept."""
        return self._path(kind, digest).exists()

    def get(self, kind: str, digest: bytes) -> KeptText | None:
        """Return the text of a content by its hash, or None if it is not kept."""
        try:
            document = orjson.loads(zlib.decompress(self._path(kind, digest).read_bytes()))
            parts = tuple(Part(label, text) for label, text in document["parts"])
            warnings = tuple(Warning(**warning) for warning in document["warnings"])
            return KeptText(parts, warnings, document["left_out"])
        except (OSError, ValueError, TypeError, KeyError, zlib.error):
            return None  # missing, or damaged: it is read again

    def put(self, kind: str, digest: bytes, text: KeptText) -> bool:
        """Keep a text. Return False if there is no room for it."""
        # The pages of a PDF may have lone surrogates.
        parts = [[part.label, part.text.encode("utf-8", "replace").decode()] for part in text.parts]
        document = {"parts": parts, "warnings": text.warnings, "left_out": text.left_out}
        data = zlib.compress(orjson.dumps(document), _LEVEL)
        path = self._path(kind, digest)
        try:
            make_private_folder(path.parent)
            replace_file(path, data, durable=False)
        except OSError:
            return False
        return True

    def sweep(self, digests: Collection[bytes]) -> None:
        """Remove all texts but those of these contents.

        The run is complete when this is called, so one that cannot be removed stays.
        """
        kept = {digest.hex() for digest in digests}
        for path in self._folder.glob("*/*"):
            name, _, kind = path.name.partition(".")
            if name not in kept or not kind.endswith(_VERSION):
                with suppress(OSError):
                    path.unlink()

    def _path(self, kind: str, digest: bytes) -> Path:
        name = digest.hex()
        return self._folder / name[:2] / f"{name}.{kind}{_VERSION}"
