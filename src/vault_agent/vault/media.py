"""Media types by file name. The table is ours, so that they are the same on every machine."""

from __future__ import annotations

import re

_DEFAULT = "application/octet-stream"

_MEDIA_TYPES = {
    # images
    "apng": "image/apng",
    "avif": "image/avif",
    "bmp": "image/bmp",
    "gif": "image/gif",
    "heic": "image/heic",
    "ico": "image/x-icon",
    "jfif": "image/jpeg",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "jxl": "image/jxl",
    "png": "image/png",
    "svg": "image/svg+xml",
    "tif": "image/tiff",
    "tiff": "image/tiff",
    "webp": "image/webp",
    # sound
    "aac": "audio/aac",
    "flac": "audio/flac",
    "m4a": "audio/mp4",
    "mid": "audio/midi",
    "mp3": "audio/mpeg",
    "oga": "audio/ogg",
    "ogg": "audio/ogg",
    "opus": "audio/ogg",
    "wav": "audio/wav",
    # video
    "3gp": "video/3gpp",
    "avi": "video/x-msvideo",
    "m4v": "video/mp4",
    "mkv": "video/x-matroska",
    "mov": "video/quicktime",
    "mp4": "video/mp4",
    "mpeg": "video/mpeg",
    "mpg": "video/mpeg",
    "ogv": "video/ogg",
    "webm": "video/webm",
    # documents
    "djvu": "image/vnd.djvu",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "epub": "application/epub+zip",
    "odp": "application/vnd.oasis.opendocument.presentation",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "odt": "application/vnd.oasis.opendocument.text",
    "pdf": "application/pdf",
    "ppt": "application/vnd.ms-powerpoint",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "rtf": "application/rtf",
    "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    # text and data
    "bib": "application/x-bibtex",
    "base": "application/yaml",
    "canvas": "application/json",
    "css": "text/css",
    "csv": "text/csv",
    "htm": "text/html",
    "html": "text/html",
    "ics": "text/calendar",
    "js": "text/javascript",
    "json": "application/json",
    "log": "text/plain",
    "tex": "application/x-tex",
    "toml": "application/toml",
    "tsv": "text/tab-separated-values",
    "txt": "text/plain",
    "vcf": "text/vcard",
    "xml": "application/xml",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    # archives
    "7z": "application/x-7z-compressed",
    "gz": "application/gzip",
    "tar": "application/x-tar",
    "zip": "application/zip",
    # fonts
    "otf": "font/otf",
    "ttf": "font/ttf",
    "woff": "font/woff",
    "woff2": "font/woff2",
}


SNIFFED_BYTES = 1024
"""How much of a file tells its type."""

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"OggS", "audio/ogg"),
    (b"ID3", "audio/mpeg"),
)
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}
_BRANDS = {
    **dict.fromkeys((b"avif", b"avis"), "image/avif"),
    **dict.fromkeys((b"M4A ", b"M4B "), "audio/mp4"),
    **dict.fromkeys(
        (b"isom", b"iso2", b"iso4", b"iso5", b"iso6", b"mp41", b"mp42", b"avc1", b"M4V ", b"dash"),
        "video/mp4",
    ),
}
_SVG = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+(?:<\?xml[^>]*+>\s*+)?(?:<!--.{0,500}?-->\s*+){0,3}"
    rb"(?:<!DOCTYPE[^>\[]*+>\s*+)?<svg[\s>]",
    re.DOTALL,
)


def shown_type(first: bytes) -> str | None:
    """Return the media type that a file's first bytes tell, if browsers may show it, else None."""
    for signature, media in _SIGNATURES:
        if first.startswith(signature):
            return media
    if first[:4] == b"RIFF":
        return _RIFF.get(first[8:12])
    if first[4:8] == b"ftyp":
        return _BRANDS.get(first[8:12])
    if first[:4] == b"\x1aE\xdf\xa3" and b"webm" in first[:64]:
        return "video/webm"
    # A frame of MPEG audio, layer 3: its first eleven bits, then version and layer.
    if len(first) > 1 and first[0] == 0xFF and first[1] & 0xE6 == 0xE2:
        return "audio/mpeg"
    return "image/svg+xml" if _SVG.match(first) else None


def media_type(name: str) -> str:
    """Return the media type of a file by its name. Its content is not read."""
    suffix = name.rpartition(".")[2].lower()
    return _MEDIA_TYPES.get(suffix, _DEFAULT)
