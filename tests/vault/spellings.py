"""Spellings of paths that try to leave a vault, or that no vault can hold.

A spelling is what a handler sees after the HTTP layer has decoded a URL once. `refused()` gives
each with the code that refuses it; `HARMLESS` are odd but honest names that must pass validation.
"""

from __future__ import annotations

from itertools import chain, product

SECRET = b"canary-outside-the-vault"  # the content of every file outside

OUTSIDE = "PATH_OUTSIDE_VAULT"
INVALID = "INVALID_PATH"

_DOTS = ("..", "%2e%2e", "%2E.", ".%2e", "%252e%252e", "%25252e%25252e", ".%25%32%65", "%%32%65.")
_SEPARATORS = ("/", "\\", "%2f", "%2F", "%5c", "%5C", "%252f", "%255c", "%25252F")

# Every way to write the dots with every way to write the separator, one and three levels up.
CLIMBING = tuple(
    chain(
        (f"{dots}{sep}secret.txt" for dots, sep in product(_DOTS, _SEPARATORS)),
        (f"Folder{sep}{(dots + sep) * 3}secret.txt" for dots, sep in product(_DOTS, _SEPARATORS)),
    )
)

LEAVING = (
    "..",
    "../",
    "/..",
    "../vault2/secret.txt",  # a sibling with the vault's name as its prefix
    "../vault/../secret.txt",
    "a/../../secret.txt",
    "a/b/../../../secret.txt",
    "./../secret.txt",
    ".. /secret.txt",  # Windows drops the space
    "a/.. /.. /secret.txt",
    "..\\..\\Windows\\win.ini",
    "/",
    "/etc/passwd",
    "//etc/passwd",
    "///etc/passwd",
    "/./etc/passwd",
    "%2fetc%2fpasswd",
    "%252fetc%252fpasswd",
    "\\etc\\passwd",
    "\\\\server\\share\\secret.txt",
    "//server/share/secret.txt",
    "\\\\?\\C:\\secret.txt",
    "\\\\.\\PhysicalDrive0",
    "C:\\secret.txt",
    "C:/secret.txt",
    "c:secret.txt",
    "C%3A/secret.txt",
    "C%253A%255Csecret.txt",
    "/proc/self/environ",
    "/dev/zero",
)

MALFORMED = (
    "",
    ".",
    "./",
    "./note.png",
    "a/./b.png",
    "a/../b.png",
    "a/..",
    "a//b.png",
    "a///b.png",
    "a/",
    "a/b/",
    " ",
    "a/ /b.png",
    "...",
    "a/.../b.png",
    ". ",
    "a\\b.png",
    "a\\..\\b.png",
    "a%5cb.png",
    "a%255cb.png",
    "a%2fb.png",
    "a%252fb.png",
    "a/%2e/b.png",
    "a/%2e%2e/b.png",
    "a/%252e%252e/b.png",
    "a\0.png",
    "a.png\0.md",
    "a%00.png",
    "a%2500.png",
    "a\n.png",
    "a\r\nSet-Cookie: x.png",
    "a%0d%0ab.png",
    "a%250ab.png",
    "a\x1b[2J.png",
    "a\x7f.png",
    "a\x85.png",
    "a\u2028.png",
    "%ff",
    "a%ff.png",
    "a%25ff.png",
    "%c0%ae%c0%ae%c0%afsecret.txt",  # over-long UTF-8 of ../
    "..%c0%afsecret.txt",
    "%e0%80%af",
    "%u002e%u002e%u002fsecret.txt",
    "..%u2215secret.txt",
    "%25u002e",
    "\ud800.png",
    "a\udcff.png",
    "x" * 256,
    "x/" * 2100 + "x.png",
    "é" * 2049,
    "file:///etc/passwd",
    "http://127.0.0.1/secret.txt",
    "%" + "25" * 12 + "2e",
    "%" + "25" * 12 + "41.png",  # would stay inside, but never written so
)

HARMLESS = (
    "a.png",
    "Folder/Sub folder/a b.png",
    "..a.png",
    "a..png",
    "a...",
    "~/a.png",
    "~root/a.png",
    "$HOME/a.png",
    "100%.png",
    "100% done.png",
    "my%20image.png",
    "50%2525.png",
    "%zz.png",
    "．．／secret.txt",  # full-width: a name like any other
    "‥/a.png",
    "∕etc∕passwd",
    "a\u202egnp.exe",
    "日本語/写真.png",
    "ab:c.png",
    "note: draft.png",
    "a;b&c=d?e#f.png",
    "con.png",
    "e\u0301.png",
    "\u00e9.png",
    "|`'\"<>*.png",
)


def refused() -> list[tuple[str, str]]:
    """Return every spelling that is refused, with its code."""
    return [
        *((spelling, OUTSIDE) for spelling in (*CLIMBING, *LEAVING)),
        *((spelling, INVALID) for spelling in MALFORMED),
    ]
