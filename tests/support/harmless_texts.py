"""Texts that look random and are no secrets: hashes, identifiers, names, code, notes."""

from __future__ import annotations

import base64
import random
import string
import uuid
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEX = "0123456789abcdef"
_ALNUM = string.ascii_letters + string.digits
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_NAMES = ("parser", "cache", "router", "ledger", "queue", "token", "password", "secret", "key")
_KINDS = ("py", "ts", "go", "rs", "md", "json", "css", "tar.gz", "svg", "lock")
_NOTES = (
    "the password is stored as a hash and never shown",
    "Users forget their password about {n} times a year.",
    "The token is refreshed after {n} minutes.",
    "Password: required",
    "password: ********",
    "Passwort vergessen? Bitte den Administrator fragen.",
    "Das Passwort ist abgelaufen, {n} Versuche bleiben.",
    "Das Token ist {n} Minuten lang gültig.",
    "Le mot de passe est obligatoire et comporte {n} caractères.",
    "La contraseña es obligatoria y tiene {n} caracteres.",
    "A senha é obrigatória desde {n}.",
    "パスワードは必須です。{n}文字以上。",
    "密码是必填项，至少{n}个字符。",
    "Пароль обязателен, не менее {n} символов.",
    "Secret: the sauce needs {n} g of sugar.",
    "The key is to start early; {n} days are enough.",
    "tokens: {n} of 8000",
    "pass: {n} fail: 0",
    "{n} passed, 3 failed in 12.3s",
    "Key insight: caching saves {n} ms per request.",
    "api key rotation is due in week {n}",
    "The API key is read from the environment.",
    "We sign in with a passkey since 20{n}.",
    "secret santa: everyone brings a present below {n} euros",
    "the bearer of this ring is {n} years old",
    "cookie: a recipe with {n} g of butter",
    "Basic usage: see page {n}",
    "Wi-Fi password: see the sticker",
    "Authorization: see section {n}",
    "token budget {n}, password length {n}",
)
_CODE = (
    "token = tokens[{n}]",
    "def read(token: str, key: bytes = b'') -> Token:",
    'api_key = os.environ["API_KEY"]',
    "password = getpass.getpass()",
    "if password != confirmed_password: raise ValueError({n})",
    "secret_key = settings.secret_key",
    "sort(key=lambda each: each.name)",
    "const token = await getToken({n});",
    "password: string;",
    "password: Optional[str] = None",
    "  password?: string | undefined,",
    '<input type="password" name="password" id="password{n}">',
    "export TOKEN=$(pass show deploy)",
    "export TOKEN=${DEPLOY_TOKEN}",
    "DB_PASSWORD=$DB_PASSWORD",
    "password: {{ vault_password }}",
    "password: ${{ secrets.DB_PASSWORD }}",
    "KEY_FILE=/etc/ssl/private.pem",
    "password_file: /run/secrets/db_password",
    "PWD=/srv/app{n}",
    "max_tokens={n}, top_k=5",
    "--token-budget {n} --key-file a.pem",
    "mysql -u root -p shop",
    "docker login -u ann --password-stdin",
    "curl -u $USER:$PASS https://a.example",
    "ssh -p {n} host.example",
    "mkdir -p a/b{n}",
    "cp -p file{n} other",
    "tokenizer = AutoTokenizer.from_pretrained('m-{n}')",
    "expect(screen.getByLabelText('Password')).toBeVisible()",
    "type Secret struct { Name string; Key []byte }",
    "let key = map.keys().next().unwrap();",
    "primary_key=True, foreign_key='user.id'",
    "SELECT password FROM users WHERE id = {n}",
    "for key, value in pairs.items():",
    "git log --format=%H --no-decorate -n {n}",
    "KeyError: 'password'",
    "error: token `{` expected at line {n}",
    "self.assertEqual(response.status_code, {n})",
    "cache_key = f'{user_id}:{page}'",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{b64} ann@a",
    "test_sk_learn_pipeline_runs_with_many_estimators_{n}",
    "see http://localhost:8080/a:b@c",
    "https://example.com:8443/path@2x.png?v={n}",
    "user@example.com wrote: token ring networks ({n})",
)


def harmless(count: int, seed: int = 0) -> Iterator[str]:
    """Yield so many texts. The same seed gives the same texts."""
    chance = random.Random(seed)
    makers = (
        _git,
        _uuid,
        _path,
        _image,
        _css,
        _version,
        _note,
        _lock,
        _date,
        _ulid,
        _file,
        _code,
        _digest,
        _id,
        _asset,
    )
    for number in range(count):
        yield makers[number % len(makers)](chance)


def _some(alphabet: str, count: int, chance: random.Random) -> str:
    return "".join(chance.choices(alphabet, k=count))


def _base64(count: int, chance: random.Random) -> str:
    return base64.b64encode(chance.randbytes(count)).decode()


def _git(chance: random.Random) -> str:
    digest = _some(_HEX, 40, chance)
    return chance.choice(
        (
            f"commit {digest}",
            f"{digest[:7]} Fix the parser",
            f"index {digest[:7]}..{digest[8:15]}",
            f"HEAD is now at {digest[:9]}",
            f"git checkout {digest}",
            f"Merge: {digest[:7]}",
            f"key: {chance.choice(_NAMES)} at {digest}",
            f"{digest} refs/heads/main",
        )
    )


def _uuid(chance: random.Random) -> str:
    found = uuid.UUID(int=chance.getrandbits(128), version=4)
    return chance.choice(
        (
            f"request {found} took 12 ms",
            f'"id": "{found}",',
            f"session_id={found}",
            f"{found}",
            f"/api/users/{found}/keys",
            f"trace-id: {found.hex}",
            f"uid: {str(found).upper()}",
        )
    )


def _path(chance: random.Random) -> str:
    one, two = chance.choices(_NAMES, k=2)
    ends = f"{one}_{two}.{chance.choice(_KINDS)}"
    number = chance.randrange(1_000)
    return chance.choice(
        (
            f"/usr/lib/python3.11/site-packages/{one}/{ends}",
            f"src/{one}/{two}/{ends}:{number}",
            f"C:\\Users\\Ann\\new\\{one}\\{ends}",
            f"/home/ann/.cache/{one}-{number}/{ends}",
            f"node_modules/@types/{one}/{ends}",
            f"/var/lib/docker/overlay2/{_some(_HEX, 64, chance)}",
            f"file:///tmp/{ends}",
            f"tests/{one}/test_{two}_is_read.py::test_{one}_{two}_{number}",
        )
    )


def _image(chance: random.Random) -> str:
    data = _base64(chance.randrange(30, 300), chance)
    kind, head = chance.choice(
        (
            ("png", "iVBORw0KGgoAAAANSUhEUgAA"),
            ("jpeg", "/9j/4AAQSkZJRgABAQ"),
            ("gif", "R0lGODlh"),
            ("svg+xml", "PHN2ZyB4bWxucz0i"),
            ("webp", "UklGRh4"),
        )
    )
    return chance.choice(
        (
            f"data:image/{kind};base64,{head}{data}",
            (f'<img src="data:image/{kind};base64,{head}{data}">'),
            f"![](data:image/{kind};base64,{head}{data})",
        )
    )


def _css(chance: random.Random) -> str:
    colour = _some(_HEX, 6, chance)
    return chance.choice(
        (
            f".{chance.choice(_NAMES)}-box {{ color: #{colour}; margin: 0 auto; }}",
            f"--key-color: #{colour};",
            f"input[type=password]:focus {{ border: 1px solid #{colour} }}",
            f".css-{_some('abcdefgh0123456789', 6, chance)}-MuiButton {{ top: 0 }}",
            f"background: url(img/{colour}.png) no-repeat;",
            ".token.keyword { color: #07a; }",
            f"@keyframes fade-{colour} {{ from {{ opacity: 0 }} }}",
        )
    )


def _version(chance: random.Random) -> str:
    one, two, three = (chance.randrange(40) for _ in range(3))
    return chance.choice(
        (
            f"v{one}.{two}.{three}-rc.{two}+build.{three}",
            (
                f"numpy-{one}.{two}.{three}-cp311-cp311"
                "-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
            ),
            f"Python 3.{one}.{two}",
            "npm_config",
            f"node:{one}.{two}-alpine3.{three}",
            f'"react": "^{one}.{two}.{three}",',
            f"go1.{one}.{two}",
            f"golang.org/x/mod v0.{one}.0-2026{one:02}0112{two:02}33-{_some(_HEX, 12, chance)}",
        )
    )


def _note(chance: random.Random) -> str:
    return chance.choice(_NOTES).format(n=chance.randrange(8, 99))


def _code(chance: random.Random) -> str:
    line = chance.choice(_CODE).replace("{n}", str(chance.randrange(8, 999)))
    return line.replace("{b64}", _some(_ALNUM, 43, chance))


def _lock(chance: random.Random) -> str:
    wide, narrow = _base64(64, chance), _base64(32, chance)
    return chance.choice(
        (
            f'"integrity": "sha512-{wide}"',
            f"  integrity sha512-{wide}",
            f"h1:{narrow}=",
            f"golang.org/x/text v0.3.7 h1:{narrow}",
            f'checksum = "{_some(_HEX, 64, chance)}"',
            f"    --hash=sha256:{_some(_HEX, 64, chance)}",
            f"integrity: sha256-{narrow}",
            f'integrity="sha384-{_base64(48, chance)}" crossorigin="anonymous"',
            f"resolved https://registry.example/a/-/a-1.2.3.tgz#{_some(_HEX, 40, chance)}",
        )
    )


def _date(chance: random.Random) -> str:
    when = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=chance.randrange(30_000_000))
    return chance.choice(
        (
            when.isoformat(),
            f"[{when:%Y-%m-%dT%H:%M:%SZ}] INFO token refreshed",
            f"created: {when:%Y-%m-%d %H:%M}",
            f"{when:%Y%m%dT%H%M%S}.123456Z",
            f"{when:%a, %d %b %Y}",
            f"key: {when:%Y-%m-%d}",
            f"expires={when:%a, %d %b %Y %H:%M:%S} GMT",
        )
    )


def _ulid(chance: random.Random) -> str:
    found = "01" + _some(_CROCKFORD, 24, chance)
    return chance.choice((found, f"event {found} was stored", f'"ulid": "{found}"'))


def _file(chance: random.Random) -> str:
    one, two = chance.choices(_NAMES, k=2)
    number = chance.randrange(10_000)
    return chance.choice(
        (
            f"{one}-{two}-{number}.{chance.choice(_KINDS)}",
            f"IMG_2026{number:04}_{number}.jpg",
            f"{one.title()}{two.title()}Factory{number}.java",
            f"Screenshot 2026-01-02 at {number}.png",
            f"backup_{one}_2026-03-04T05-06-07.sql.gz",
            f"{one}.{_some(_HEX, 8, chance)}.chunk.js",
        )
    )


def _digest(chance: random.Random) -> str:
    wide = _some(_HEX, 64, chance)
    return chance.choice(
        (
            f"sha256:{wide}",
            f"docker pull a@sha256:{wide}",
            f"{wide}  a.tar.gz",
            f'ETag: "{wide[:32]}"',
            f"MD5 (a.txt) = {wide[:32]}",
            f"SHA256:{_base64(32, chance)[:43]} ann@a (ED25519)",
            f"Content-MD5: {_base64(16, chance)}",
            f"layer {wide[:12]}: Pull complete",
        )
    )


def _id(chance: random.Random) -> str:
    some = _some(_ALNUM, 24, chance)
    return chance.choice(
        (
            f"toolu_01{some[:22]}",
            f"msg_01{some[:22]}",
            f"req_011C{some[:20]}",
            f"chatcmpl-{some}",
            f"cus_{some[:14]} paid",
            f"i-{_some(_HEX, 17, chance)} is running",
            f"pod/a-{some[:5].lower()}",
            f"arn:aws:iam::{_some(string.digits, 12, chance)}:role/deploy",
            f"vol-{_some(_HEX, 17, chance)}",
        )
    )


def _asset(chance: random.Random) -> str:
    some = _some(_ALNUM + "_-", 8, chance)
    return chance.choice(
        (
            f"dist/assets/index-{some}.js  {chance.randrange(99)}.4 kB",
            f"main.{some}.css",
            f"0x7ffd{some}",
            f"https://cdn.example/npm/a@1.2.3/dist/a.min.js?v={some}",
            f"#/components/schemas/{some}",
            f"https://youtu.be/{some}abc",
            f"https://docs.example/d/1{_some(_ALNUM, 42, chance)}/edit",
        )
    )
