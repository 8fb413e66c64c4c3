"""Media types by file name. The table is ours, so that they are the same on every machine."""

from __future__ import annotations

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


def media_type(name: str) -> str:
    """Return the media type of a file by its name. Its content is not read."""
    suffix = name.rpartition(".")[2].lower()
    return _MEDIA_TYPES.get(suffix, _DEFAULT)
