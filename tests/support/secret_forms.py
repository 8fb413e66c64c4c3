"""Forms of secrets as vendors document them, and as commands, settings and messages have them.

A form is a template. `made` fills it with random characters, so that no value stands in a file.
`<KIND:N>` is a secret of N characters, and `@` begins the name of the public page that documents
the form. `w`, `p` and `s` are a password of words, one with digits and signs, and a phrase.
"""

from __future__ import annotations

import random
import re
import string
from typing import NamedTuple

_ALPHABETS = {
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "an": string.ascii_letters + string.digits,
    "low": string.ascii_lowercase + string.digits,
    "up": string.ascii_uppercase + string.digits,
    "b64": string.ascii_letters + string.digits + "+/",
    "url": string.ascii_letters + string.digits + "_-",
    "dig": string.digits,
    "b32": string.ascii_uppercase + "234567",
    "bech": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
}
_WORDS = ("correct", "horse", "battery", "staple", "copper", "window", "garden", "violet")
_HOLE = re.compile(r"<(hex|HEX|an|low|up|b64|url|dig|b32|bech|uuid|w|p|s)(?::(\d+))?>")


class Form(NamedTuple):
    """A form of secrets: the page that documents it, and the text with its holes."""

    source: str
    template: str


class Planted(NamedTuple):
    """A text that was made of a form, and the parts of it that nobody may read."""

    text: str
    secrets: tuple[str, ...]


def made(form: Form, seed: int) -> Planted:
    """Return a text of a form. The same seed gives the same text."""
    chance = random.Random(f"{form.template} {seed}")
    secrets: list[str] = []

    def fill(match: re.Match[str]) -> str:
        secrets.append(_filled(match[1], int(match[2] or 0), chance))
        return secrets[-1]

    return Planted(_HOLE.sub(fill, form.template), tuple(secrets))


def _filled(kind: str, count: int, chance: random.Random) -> str:
    if kind == "uuid":
        return "-".join(_some("hex", each, chance) for each in (8, 4, 4, 4, 12))
    if kind == "w":
        return "".join(chance.sample(_WORDS, 2))
    if kind == "s":
        return " ".join(chance.sample(_WORDS, 4))
    if kind == "p":
        word = chance.choice(_WORDS).title()
        return f"{word[:5]}{_some('dig', 2, chance)}{chance.choice('!%+#')}{_some('an', 4, chance)}"
    while True:  # no digits alone, and some letters, as nearly every real one has
        found = _some(kind, count, chance)
        if kind == "dig" or count < 12 or (re.search(r"\d", found) and re.search(r"\D", found)):
            return found


def _some(kind: str, count: int, chance: random.Random) -> str:
    return "".join(chance.choices(_ALPHABETS[kind], k=count))


def _read(table: str) -> tuple[Form, ...]:
    found = []
    source = ""
    for line in table.strip("\n").split("\n"):
        if line.startswith("@"):
            source = line[1:].strip()
        elif line.strip():
            found.append(Form(source, line.replace("⏎", "\n").replace("␣", " ")))
    return tuple(found)


VENDORS = _read("""
@ DigitalOcean API reference, authentication
dop_v1_<hex:64>
doo_v1_<hex:64>
dor_v1_<hex:64>
@ GitHub Docs, about authentication: token formats
ghp_<an:36>
gho_<an:36>
ghu_<an:36>
ghs_<an:36>
ghr_<an:36>
github_pat_<an:22>_<an:59>
@ GitLab Docs, token overview: prefixes
glpat-<url:20>
gldt-<url:20>
glrt-<url:20>
glptt-<hex:40>
glcbt-<an:2>_<url:20>
glft-<url:20>
gloas-<hex:64>
glagent-<url:50>
glsoat-<url:20>
GR1348941<url:20>
@ Bitbucket and Atlassian Support, API tokens
ATATT3xFfGF0<url:170>=<HEX:8>
ATBB<an:32>
ATCTT3xFfGN0<url:160>=<HEX:8>
@ AWS IAM User Guide, unique identifiers; Bedrock User Guide, API keys
AKIA<b32:16>
ASIA<b32:16>
ABSK<b64:110>=
aws_secret_access_key = <b64:40>
AWS_SECRET_ACCESS_KEY=<b64:40>
AWS_SESSION_TOKEN=IQoJb3JpZ2luX2Vj<b64:200>==
"SecretAccessKey": "<b64:40>",
aws configure set aws_secret_access_key <b64:40>
https://b.s3.amazonaws.com/a?X-Amz-Credential=x&X-Amz-Signature=<hex:64>
@ Google Cloud Docs, API keys; OAuth 2.0
AIza<url:35>
GOCSPX-<url:28>
ya29.<url:120>
1//0<url:60>
@ Microsoft Learn, Azure: client secrets, storage connection strings, SAS, DevOps PAT
<an:3>8Q~<url:34>
DefaultEndpointsProtocol=https;AccountName=a;AccountKey=<b64:86>==;EndpointSuffix=core.windows.net
Endpoint=sb://a.example/;SharedAccessKeyName=Root;SharedAccessKey=<b64:43>=
https://a.blob.core.windows.net/c?sv=2022-11-02&sp=r&sig=<an:40>%3D
HostName=a.azure-devices.net;DeviceId=d;SharedAccessKey=<b64:43>=
Server=tcp:db.example,1433;User ID=app;Password=<p>;Encrypt=True;
Data Source=db;User Id=sa;Pwd=<p>;
Ocp-Apim-Subscription-Key: <hex:32>
@ OpenAI platform documentation, API keys
sk-<an:20>T3BlbkFJ<an:20>
sk-proj-<url:74>T3BlbkFJ<url:74>
sk-svcacct-<url:74>T3BlbkFJ<url:74>
sk-admin-<url:74>T3BlbkFJ<url:74>
@ Claude Docs, API overview
sk-ant-api03-<url:93>AA
sk-ant-admin01-<url:93>AA
sk-ant-oat01-<url:93>AA
@ OpenRouter, Groq, xAI, Replicate, Perplexity, Hugging Face: API keys
sk-or-v1-<hex:64>
gsk_<an:52>
xai-<an:80>
r8_<an:37>
pplx-<an:48>
hf_<an:34>
api_org_<an:34>
@ Fireworks, Cerebras, ElevenLabs, LangSmith, Pinecone, Weights and Biases, Tavily, Firecrawl
fw_<an:24>
csk-<low:48>
sk_<hex:48>
lsv2_pt_<hex:32>_<hex:10>
pcsk_<an:6>_<an:63>
tvly-<an:32>
fc-<hex:32>
nvapi-<url:64>
jina_<hex:32><url:28>
@ Supabase Docs, API keys
sbp_<hex:40>
sb_secret_<url:31>
@ Databricks Docs, personal access tokens
dapi<hex:32>
dapi<hex:32>-2
dose<hex:32>
@ HashiCorp Developer, Vault tokens; HCP Terraform API tokens
hvs.<url:95>
hvb.<url:150>
hvr.<an:24>
s.<an:24>
<an:14>.atlasv1.<url:67>
@ age (filippo.io/age), README
AGE-SECRET-KEY-1<bech:58>
@ Docker Docs, access tokens
dckr_pat_<url:27>
dckr_oat_<url:32>
docker login -u ann -p <p> registry.example
{"auths": {"https://index.docker.io/v1/": {"auth": "<b64:40>"}}}
@ Shopify developer changelog, token prefixes
shpat_<hex:32>
shpca_<hex:32>
shppa_<hex:32>
shpss_<hex:32>
@ Square Developer, access tokens
EAAAE<url:59>
sq0atp-<url:22>
sq0csp-<url:43>
@ Stripe Docs, API keys
sk_live_<an:24>
sk_test_<an:99>
rk_live_<an:24>
whsec_<an:32>
@ PayPal and Braintree, Razorpay, Paystack, Flutterwave, Plaid: API credentials
access_token$production$<low:16>$<hex:32>
rzp_live_<an:14>
sk_live_<hex:40>
FLWSECK-<hex:32>-X
access-production-<uuid>
@ Slack API docs, token types
xoxb-<dig:12>-<dig:13>-<an:24>
xoxp-<dig:12>-<dig:12>-<dig:12>-<hex:32>
xoxe.xoxp-1-<url:160>
xapp-1-A<up:10>-<dig:13>-<hex:64>
https://hooks.slack.com/services/T<up:8>/B<up:10>/<an:24>
@ Discord Developer Portal, bot tokens and webhooks
M<an:25>.G<url:5>.<url:38>
https://discord.com/api/webhooks/123456789012345678/<url:68>
@ Telegram Bot API
<dig:10>:AA<url:33>
@ Microsoft Teams incoming webhooks
https://a.webhook.office.com/webhookb2/<uuid>@<uuid>/IncomingWebhook/<hex:32>/<uuid>
@ Linear, Notion, Asana, Airtable, Figma: developer documentation
lin_api_<an:40>
lin_oauth_<hex:64>
ntn_<an:46>
secret_<an:43>
pat<an:14>.<hex:64>
figd_<url:40>
2/1234567890123456/1234567890123456:<hex:32>
@ Grafana, New Relic, Sentry, Datadog, Dynatrace, Honeycomb, PostHog: API keys
glsa_<an:32>_<hex:8>
glc_<b64:100>=
eyJrIjoi<b64:70>
NRAK-<up:27>
NRII-<url:32>
<hex:36>NRAL
sntrys_eyJ<b64:80>_<b64:43>
sntryu_<hex:64>
https://<hex:32>@o1.ingest.sentry.io/2
DD_API_KEY=<hex:32>
dt0c01.<b32:24>.<b32:64>
hcaik_<low:58>
phx_<an:43>
@ Mailgun, Mailchimp, SendGrid, Postmark, Resend, Brevo
key-<hex:32>
<hex:32>-us6
SG.<url:22>.<url:43>
X-Postmark-Server-Token: <uuid>
re_<an:8>_<an:24>
xkeysib-<hex:64>-<an:16>
@ Twilio Docs, API keys
SK<hex:32>
TWILIO_AUTH_TOKEN=<hex:32>
@ Fly.io Docs, access tokens
FlyV1 fm2_<b64:120>=
fo1_<url:43>
@ Netlify, Vercel, Render, Heroku, Cloudflare, PlanetScale, Neon: API tokens
nfp_<an:36>
VERCEL_TOKEN=<an:24>
rnd_<an:28>
HRKU-AA<url:58>
HEROKU_API_KEY=0<dig:7>-<hex:4>-<hex:4>-<hex:4>-<hex:12>
CLOUDFLARE_API_TOKEN=<url:40>
v1.0-<hex:24>-<hex:146>
pscale_tkn_<url:43>
pscale_pw_<url:43>
pscale_oauth_<url:43>
napi_<low:64>
@ RubyGems Guides, npm Docs, PyPI Help, crates.io, NuGet, Clojars: API tokens
rubygems_<hex:48>
npm_<an:36>
pypi-AgEIcHlwaS5vcmc<url:150>
cio<an:32>
oy2<low:43>
CLOJARS_<low:60>
//registry.npmjs.org/:_authToken=<uuid>
@ Postman, Doppler, 1Password, Mapbox, Tailscale, ngrok, Pulumi, Buildkite, CircleCI
PMAK-<hex:24>-<hex:34>
dp.pt.<an:43>
dp.st.dev.<an:43>
ops_eyJ<b64:260>
A3-<up:6>-<up:11>-<up:5>-<up:5>-<up:5>
sk.eyJ1Ijoi<an:60>.<url:22>
tskey-auth-<an:16>CNTRL-<an:32>
tskey-api-<an:16>CNTRL-<an:32>
tskey-client-<an:16>CNTRL-<an:32>
pul-<hex:40>
bkua_<hex:40>
CCIPAT_<an:22>_<hex:40>
@ Contentful, Dropbox, Duffel, EasyPost, Facebook, LaunchDarkly, Okta, SonarQube, JFrog, Snyk
CFPAT-<url:43>
sl.<url:136>
duffel_live_<url:43>
EZAK<an:54>
EAA<an:150>
sdk-<uuid>
Authorization: SSWS 00<url:40>
squ_<hex:40>
AKCp<an:69>
snyk_uat.<hex:8>.<url:80>
@ Confluent, Scaleway, Alibaba Cloud, Tencent Cloud, Yandex Cloud, Hetzner
LTAI<an:20>
AKID<an:32>
SCW_SECRET_KEY=<uuid>
AQVN<url:35>
HCLOUD_TOKEN=<an:64>
@ RFC 7519 (JSON Web Token), RFC 7468 (PEM), OpenSSH, OpenPGP, PuTTY, WireGuard, JWK (RFC 7517)
eyJ<an:33>.eyJ<an:60>.<url:43>
-----BEGIN RSA PRIVATE KEY-----⏎<b64:64>⏎<b64:64>⏎-----END RSA PRIVATE KEY-----
-----BEGIN OPENSSH PRIVATE KEY-----\\n<b64:70>\\n<b64:70>\\n-----END OPENSSH PRIVATE KEY-----
-----BEGIN PGP PRIVATE KEY BLOCK-----⏎⏎<b64:64>⏎=<an:4>⏎-----END PGP PRIVATE KEY BLOCK-----
PuTTY-User-Key-File-3: ssh-ed25519⏎Private-Lines: 1⏎<b64:48>⏎Private-MAC: <hex:64>
PrivateKey = <b64:43>=
{"kty": "EC", "crv": "P-256", "x": "a", "d": "<url:43>"}
-----BEGIN OpenVPN Static key V1-----⏎<hex:32>⏎<hex:32>⏎-----END OpenVPN Static key V1-----
""")

CONTEXTS = _read("""
@ environment variables and .env files (dotenv)
DB_PASSWORD=<p>
export db_password=<w>
DB_PASSWORD="<s>"
DB_PASSWORD=$<p>
DB_PASSWORD={<p>
DB_PASSWORD=~<p>
DB_PASSWORD=-<p>
DB_PASSWORD=/<p>
PGPASSWORD=<w> psql -h db
MYSQL_PWD=<p> mysqldump shop
SECRET_KEY_BASE=<hex:64>
export STRIPE_WEBHOOK_SECRET='<an:32>'
$env:API_KEY = "<an:32>"
setx API_TOKEN "<an:32>"
set ADMIN_PASSWORD=<p>
ENV APP_SECRET <an:40>
@ YAML 1.2, TOML 1.0, INI and properties files
password: <w>
password: <p>  # of the test server
  passwd: <p>
"db_password" = "<w>"
client_secret: <an:40>
token: <hex:40>
spring.datasource.password=<w>
password = <p>
api_key: '<hex:32>'
requirepass <p>
Passphrase: <s>
secretKey: "<b64:32>"
@ JSON (RFC 8259), and JSON inside JSON
{"password": "<s>"}
{"user": "ann", "pass": "<p>"}
{\\"password\\":\\"<p>\\"}
{\\\\\\"client_secret\\\\\\": \\\\\\"<an:32>\\\\\\"}
{"body": "{\\"apiKey\\":\\"<an:32>\\"}"}
{"accessToken":"<an:40>","expires":3600}
{"env":"DB_PASSWORD\\u003d<p>"}
"first line\\nDB_PASSWORD=<p>\\nlast line"
@ HTTP: RFC 9110, RFC 7617, RFC 6750, RFC 6265; application/x-www-form-urlencoded
Authorization: Basic <b64:32>
Authorization: Bearer <an:40>
Authorization: token <hex:40>
Proxy-Authorization: Basic <b64:24>
-H "Authorization: <an:40>"
curl -H "X-API-Key: <an:32>" https://a.example
curl -H 'X-Auth-Key: <hex:37>' https://a.example
X-Auth-Token: <hex:32>
PRIVATE-TOKEN: <an:20>
Cookie: session=<an:40>; theme=dark
Set-Cookie: sid=<url:43>; HttpOnly; Path=/
https://a.example/?user=ann&password=<p>
https://a.example/cb?access_token=<an:40>&state=1
username=ann&password%3D<w>%26go=1
https://a.example/v1?api_key=<hex:32>
@ URI (RFC 3986) with user information
postgres://app:<p>@db.example/shop
https://ann:<an:8>/<an:8>@a.example/x
mongodb+srv://app:$<p>@a.example/shop
redis://:<w>@cache.example:6379/0
amqp://app:<w>@mq.example
https://<an:40>@github.com/a/b.git
https://x-access-token:<an:40>@github.com/a/b.git
jdbc:mysql://db/shop?user=app&password=<p>
jdbc:oracle:thin:app/<p>@db:1521/x
@ libpq, ODBC and ADO connection strings
host=db user=app password=<w> dbname=shop
Driver={SQL Server};Server=db;UID=sa;PWD=<p>;
@ manual pages: curl, mysql, sshpass, redis-cli, openssl, gpg, ldapsearch, smbclient, wget, zip
curl -u admin:<p> https://a.example
curl --user 'admin:<w>' https://a.example
mysql -u root -p<p> shop
mysqldump --password=<w> shop
sshpass -p <p> ssh ann@a.example
sshpass -p '<w>' ssh ann@a.example
redis-cli -h cache -a <p> ping
openssl rsa -passin pass:<p> -in a.key
gpg --batch --passphrase <w> -d a.gpg
ldapsearch -D cn=admin -w <p> -b dc=a
smbclient //a/b -U ann%<p>
wget --http-password=<w> https://a.example
zip -P <p> a.zip a
echo <p> | sudo -S apt update
echo "<w>" | docker login -u ann --password-stdin
echo "root:<p>" | chpasswd
kubectl create secret generic a --from-literal=password=<w>
vault login <an:26>
az login --service-principal -u a -p <url:34> --tenant b
sqlcmd -S db -U sa -P <p>
htpasswd -b users ann <p>
net use z: \\\\a\\b /user:ann <p>
deploy --api-token <an:24> now
tool --secret-key=<an:32>
@ netrc, npmrc, pypirc, pgpass, htpasswd, shadow(5), git-credential-store, wpa_supplicant.conf
machine a.example login ann password <w>
_auth=<b64:32>
_password="<b64:20>"
db.example:5432:shop:app:<p>
ann:$apr1$<an:8>$<an:22>
root:$6$<an:16>$<an:86>:19000:0:99999:7:::
$2y$10$<an:53>
psk="<w>"
@ SQL: CREATE ROLE (PostgreSQL), CREATE USER (MySQL, Oracle)
CREATE ROLE app LOGIN PASSWORD '<w>';
CREATE USER app IDENTIFIED BY '<p>';
ALTER USER app WITH ENCRYPTED PASSWORD '<p>';
@ XML, plist and .NET configuration
<password><p></password>
<add key="ApiKey" value="<an:32>" />
<string name="api_key"><an:32></string>
@ code: Python, JavaScript, Ruby, PHP, Go, Java, Terraform
connect(host="db", password="<w>")
requests.get(url, auth=("ann", "<p>"))
const apiKey = "<an:32>";
  :password => '<w>',
define('DB_PASSWORD', '<p>');
Password: "<w>",
user.setPassword("<p>");
os.environ["API_TOKEN"] = "<an:32>"
password := "<p>"
String clientSecret = "<an:32>";
@ Key URI format (otpauth), Kubernetes configuration, WebAuthn recovery, BIP 39
otpauth://totp/a:ann?secret=<b32:32>&issuer=a
client-key-data: <b64:120>
seed phrase: <s> <s> <s>
@ messages of people, in several languages
the password is <p>
My password: <w>
use the password "<w>" for it
the api key is <an:32>
Das Passwort ist <p>
Le mot de passe est <p>
La contraseña es <p>
パスワードは <p> です
密码是 <p>
password for the database is `<w>`
log in with ann, password <p>
the token is <hex:40>, keep it
""")

HIDDEN = (
    Form("a zero-width space in a token", "ghp_<an:18>\u200b<an:18>"),
    Form("a soft hyphen in a token", "glpat-<url:10>\u00ad<url:10>"),
    Form("a token that a terminal has wrapped", "sk-ant-api03-<an:50>7\n<an:42>7AA"),
    Form("a token that a mail has wrapped and quoted", "> ghp_<an:17>7\n> <an:17>7"),
    Form("a token wrapped by the shell", "TOKEN=ghp_<an:17>7\\\n<an:17>7"),
    Form("an escaped token", "dop\\u005fv1\\u005f<hex:64>"),
    Form("a percent-encoded token", "https%3A%2F%2Fann%3A<an:12>%40db.example%2F"),
    Form("an HTML-escaped setting", "&quot;password&quot;:&quot;<p>&quot;"),
    Form("escaped slashes", "postgres:\\/\\/app:<an:12>@db.example\\/shop"),
    Form("bold in Markdown", "**Password:** <p>"),
    Form("code in Markdown", "Password: `<w>`"),
    Form("a cell of a table", "| password | <p> |"),
)

FORMS = (*VENDORS, *CONTEXTS, *HIDDEN)
