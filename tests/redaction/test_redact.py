"""Secrets of the known kinds are removed, and harmless lines stay as they are."""

from __future__ import annotations

import random
import re
import string

import pytest
from tests.support.clocks import assert_linear

from vault_agent.text.redaction import is_secret_file, redact

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
chance = random.Random(20)


def some(alphabet: str, count: int) -> str:
    return "".join(chance.choices(alphabet, k=count))


SECRETS = {
    "aws": lambda: "AKIA" + some(UPPER, 16),
    "github": lambda: chance.choice(("ghp_", "gho_", "ghs_")) + some(ALNUM, 36),
    "github fine": lambda: f"github_pat_{some(ALNUM, 22)}_{some(ALNUM, 59)}",
    "gitlab": lambda: "glpat-" + some(ALNUM + "-_", 20),
    "anthropic": lambda: f"sk-ant-api03-{some(ALNUM + '-_', 93)}AA",
    "openai": lambda: f"sk-proj-{some(ALNUM, 20)}1T3BlbkFJ{some(ALNUM, 20)}",
    "google": lambda: "AIza" + some(ALNUM + "-_", 35),
    "stripe": lambda: f"sk_live_{some(ALNUM, 24)}",
    "slack": lambda: f"xoxb-{some(string.digits, 12)}-{some(string.digits, 12)}-{some(ALNUM, 24)}",
    "jwt": lambda: f"eyJ{some(ALNUM, 20)}.eyJ{some(ALNUM, 40)}.{some(ALNUM + '-_', 43)}",
    "npm": lambda: "npm_" + some(ALNUM, 36),
    "pypi": lambda: "pypi-AgEIcHlwaS5vcmc" + some(ALNUM + "-_", 150),
    "hugging face": lambda: "hf_" + some(ALNUM, 34),
    "sendgrid": lambda: f"SG.{some(ALNUM, 22)}.{some(ALNUM, 43)}",
    "twilio": lambda: "SK" + some(HEX, 32),
    "telegram": lambda: f"{some('123456789', 10)}:AA{some(ALNUM + '-_', 33)}",
}
LINES = (
    "export KEY_OF_IT={}",
    'curl -H "X-Api-Key: {}" http://127.0.0.1:9/v1',
    "  found {} in the log",
    '{{"value": "{}", "ok": true}}',
    "{}",
)
NAMED = {
    "DB_PASSWORD={}": "password",
    "export PGPASSWORD={}": "password",
    "MY_APP_SECRET='{}'": "secret",
    'DEPLOY_TOKEN="{}"': "secret",
    '  "client_secret": "{}",': "secret",
    "api_key = '{}'": "secret",
    "password: {}": "password",
    "mysql --user=root --password={} shop": "password",
    "deploy --api-token {} now": "secret",
    "postgres://app:{}@db.example/shop": "url-password",
    "Authorization: Bearer {}": "bearer",
}
HARMLESS = """\
commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
request 123e4567-e89b-12d3-a456-426614174000 took 12 ms
tokens: 1200 of 8000
max_tokens=4096, top_k=5
token = tokens[0]
def read(token: str, key: bytes) -> Token:
api_key = os.environ["API_KEY"]
password = getpass.getpass()
if password != confirmed_password:
secret_key = settings.secret_key
sort(key=lambda each: each.name)
PWD=/srv/app
SSH_AUTH_SOCK=/tmp/agent.1
KEY_FILE=/etc/ssl/private.pem
Password: ********
export TOKEN=$(pass show deploy)
export TOKEN=${DEPLOY_TOKEN}
numpy-2.4.1-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl
sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae
The bearer of this ring is tired.
git log --format=%H --no-decorate
https://example.com:8443/path@2x.png
see http://localhost:8080/a:b@c
the password is stored as a hash
--token-budget 1000
test_sk_learn_pipeline_runs_with_many_estimators
"""


@pytest.mark.parametrize("kind", SECRETS)
def test_a_key_of_a_provider_is_removed_whole_in_any_line(kind: str):
    for line in LINES:
        for _ in range(8):
            secret = SECRETS[kind]()
            text = f"before\n{line.format(secret)}\nafter"
            done = redact(text)
            assert secret not in done.text
            assert secret[8:24] not in done.text
            assert [each.line for each in done.places] == [2]
            assert done.text.startswith("before\n")
            assert done.text.endswith("\nafter")


@pytest.mark.parametrize("line", NAMED)
def test_a_value_behind_a_name_that_says_so_is_removed(line: str):
    for secret in (
        "hunter2hunter2",
        "Tr0ub4dor&3x",
        some(ALNUM, 20) + "7",
        "correct-horse-9-staple",
    ):
        done = redact(line.format(secret))
        assert secret not in done.text, done.text
        assert [each.kind for each in done.places] == [NAMED[line]]


@pytest.mark.parametrize(
    "line",
    [
        "pw: summer2024",
        "Password: correct-horse-battery",
        "passwort: geheim-haus-baum",
        "login admin / Rosebud7!",
        "PIN: 471199",
    ],
)
def test_a_password_as_people_write_it_is_removed(line: str):
    assert line.rsplit(maxsplit=1)[-1] not in redact(line).text


@pytest.mark.parametrize(
    "line", ["pw: yes", "pass: 3", "password: not-set", "password: off-by-one", "pin: 13"]
)
def test_a_word_beside_password_stays(line: str):
    assert redact(line).text == line


def test_harmless_lines_stay():
    for line in HARMLESS.splitlines():
        assert redact(line).text == line


def test_a_private_key_and_what_is_marked_private_go_whole():
    key = (
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1r\nAAAA\n-----END OPENSSH PRIVATE KEY-----"
    )
    done = redact(f"a\n{key}\nb\n<private>my\ndiary</private> c\n<PRIVATE>never closed\nx")
    assert done.text == (
        "a\n[redacted: private-key]\nb\n[redacted: private] c\n[redacted: private]"
    )
    assert [tuple(each) for each in done.places] == [
        ("private-key", 2),
        ("private", 7),
        ("private", 9),
    ]
    assert redact("-----BEGIN RSA PRIVATE KEY-----\nMIIE and no end").text == (
        "[redacted: private-key]"
    )


def test_what_was_redacted_once_is_not_redacted_again():
    once = redact("DB_PASSWORD=hunter2hunter2 and Bearer abcdefghijklmnop").text
    assert redact(once).text == once


def test_the_home_folder_and_the_users_own_patterns():
    done = redact(
        "/home/ann/notes and /home/anna and badge 4711",
        home="/home/ann",
        more=[re.compile(r"badge \d+")],
    )
    assert done.text == "~/notes and /home/anna and [redacted: custom]"


@pytest.mark.parametrize(
    "part",
    [
        "-----BEGIN RSA PRIVATE KEY-----x ",
        "<private>",
        "eyJaaaaaaaaaa.",
        "a_password_",
        "SECRET_KEY_",
        "http://a:",
        "Authorization: Basic ",
        "sk-a-",
        "x" * 50,
        " --api-",
        "TOKEN=",
        "password",
        "password ",
        "password: ",
        "password for ",
        "password is ",
        'password="',
        "password='a ",
        "the api key is a1 ",
        "curl -u ",
        "curl -",
        "mysql ",
        "docker login ",
        "machine a login b ",
        "echo a1b2 | ",
        "\\",
        '\\\\"',
        "%25",
        "\u200b",
        "a1b2c3d4\n",
        "ghp_a1\n",
        "_pat_a1",
        "sk_live_",
        "eyJaaaaaaaaaa.a.",
        "Private-Lines: 1\n",
        "Cookie: a=",
        "://a1",
        "://a:b/",
        "jdbc:a",
        "$6$a",
        "seed phrase: word ",
        "pass | ",
        "pass",
        "pwd=",
        "https://a1",
        "authorization: digest ",
        "key key_",
        "<password>",
        "auth=('a','",
        "&quot;",
        "İ",
    ],
)
def test_the_time_grows_with_the_text(part: str):
    assert_linear(lambda parts: part * (2_000 * parts), redact)


def test_files_that_hold_secrets_are_known_by_name():
    for path in (
        ".env",
        "a/.env.local",
        "deploy.pem",
        "x/id_ed25519",
        "aws/credentials",
        "C:\\a.key",
    ):
        assert is_secret_file(path)
    for path in ("environment.py", "keys.md", "identity.py", "pem.txt"):
        assert not is_secret_file(path)
