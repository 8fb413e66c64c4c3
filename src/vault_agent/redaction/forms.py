# ruff: noqa: E501 - a pattern that is cut into lines cannot be read
"""The forms that vendors give their tokens, and those of keys, addresses and commands: a table.

Each pattern is linear in the length of the text.
"""

from __future__ import annotations

from typing import Final

# Kind, prefixes, characters, how many at least, how many there are (0 if that varies). The numbers
# count what follows the prefix. A form with `?` needs a digit, because its prefix may be a word's.
PREFIXED: Final = """
digitalocean dop_v1_|doo_v1_|dor_v1_ hex 40 64
github ghp_|gho_|ghu_|ghs_|ghr_ an 30 36
github github_pat_ url 22 82
gitlab glpat-|gldt-|glrt-|glcbt-|glptt-|glft-|glsoat-|glagent-|gloas-|glimt-|glffct- dot 20 0
gitlab GR1348941 url 20 20
atlassian ATATT3|ATCTT3|ATBB dot 24 0
aws ABSK b64 60 0
google AIza url 35 35
google GOCSPX-|ya29.|1//0 url 20 0
anthropic sk-ant-api03-|sk-ant-admin01- url 16 95
anthropic sk-ant- url 16 0
openai sk-proj-|sk-svcacct-|sk-admin-|sk-or-v1-|sk-or- url 20 0
openai sk- url? 20 0
groq gsk_ an 30 52
xai xai- an 40 80
replicate r8_ an 30 37
perplexity pplx- an 32 48
hugging-face hf_|api_org_ an 30 34
fireworks fw_|fw- an? 22 24
cerebras csk- an? 32 48
langsmith lsv2_pt_|lsv2_sk_ url 32 43
pinecone pcsk_ url 40 70
tavily tvly- url? 20 0
firecrawl fc- hex 32 32
nvidia nvapi- url 40 64
jina jina_ url 40 60
supabase sbp_ hex 32 40
supabase sb_secret_ url 20 31
databricks dapi|dose|dkea url? 32 0
vault hvs.|hvb.|hvr. url 20 0
age AGE-SECRET-KEY-1|AGE-PLUGIN- an 40 58
docker dckr_pat_|dckr_oat_ url 20 27
shopify shpat_|shpca_|shppa_|shpss_ an 30 32
square EAAA|EAAE url? 56 60
square sq0atp-|sq0csp-|sq0idp- url 20 0
facebook EAA an? 80 0
stripe sk_live_|sk_test_|rk_live_|rk_test_|whsec_|sk_prod_|pk_live_ b64 16 0
razorpay rzp_live_|rzp_test_ an 14 14
flutterwave FLWSECK-|FLWSECK_TEST- url 12 0
plaid access-production-|access-sandbox-|access-development- url 32 36
slack xoxb-|xoxp-|xoxa-|xoxo-|xoxr-|xoxs-|xoxe-|xoxc-|xoxd-|xoxe.xoxp-|xoxe.xoxb- url 10 0
slack xapp- url 20 0
linear lin_api_|lin_oauth_|lin_wh_ an 32 40
notion ntn_|secret_ an? 40 0
figma figd_|figdr_|figo_|figor_ url 32 40
grafana glsa_ url 32 41
grafana glc_|glf_ b64 32 0
grafana eyJrIjoi b64 40 0
new-relic NRAK-|NRII-|NRJS-|NRSP-|NRIQ- url 19 0
sentry sntrys_|sntryu_|sntryi_|sntrya_ b64 40 0
dynatrace dt0c01.|dt0s01.|dt0s16. dot 60 0
honeycomb hcaik_|hcbik_|hcamk_ url 32 58
posthog phx_|phs_ an 40 43
mailgun key-|pubkey- hex 32 32
sendgrid SG. dot 40 66
resend re_ url? 32 33
brevo xkeysib-|xsmtpsib- url 60 0
twilio SK hex 32 32
fly FlyV1|fm2_|fm1r_|fm1a_|fo1_ b64 40 0
netlify nfp_|nfo_|nfc_|nfu_ an 36 0
render rnd_ an? 28 28
heroku HRKU- url 32 0
planetscale pscale_tkn_|pscale_pw_|pscale_oauth_ dot 32 43
neon napi_ an 48 64
rubygems rubygems_ hex 40 48
npm npm_ an 30 36
pypi pypi- url 40 0
crates-io cio an? 32 32
nuget oy2 an? 43 43
clojars CLOJARS_|clojars_ an 48 60
postman PMAK- url 40 59
doppler dp.pt.|dp.st.|dp.ct.|dp.sa.|dp.scim.|dp.audit. dot 40 0
1password ops_ey b64 100 0
tailscale tskey- url 20 0
pulumi pul- hex 40 40
buildkite bkua_|bkct_|bkaj_ hex 40 40
circleci CCIPAT_|CCIPRJ_ url 40 63
contentful CFPAT- url 40 43
dropbox sl.u.|sl. url? 100 0
duffel duffel_live_|duffel_test_ url 40 43
easypost EZAK|EZTK an 54 54
launchdarkly sdk-|mob-|api- url? 36 36
okta SSWS url 20 0
sonarqube squ_|sqp_|sqa_ hex 40 40
jfrog AKCp an 60 69
snyk snyk_uat.|snyk_sat. dot 40 0
alibaba LTAI an? 16 24
tencent AKID an? 32 32
yandex AQVN url? 35 38
yandex y0_ url? 50 0
prefect pnu_|pnb_ an 32 36
readme rdme_ an 60 70
shippo shippo_live_|shippo_test_ an 32 40
typeform tfp_ dot 40 0
scalingo tk-us- url 40 48
together tgp_v1_ url 40 43
infracost ico- an? 32 32
sourcegraph sgp_ url 40 0
sourcegraph sgd_|slk_ hex 40 64
adobe p8e- an? 32 32
authress sc_|ext_ dot? 60 0
cloudsmith csrt_|csa_ an 40 0
voyage pa- url? 40 43
vercel vcp_|vci_|vca_|vcr_|vck_ an 24 0
elevenlabs sk_ hex 48 48
deno ddp_|ddo_ an 36 36
gitea gta_ an? 40 0
trello ATTA an 60 72
intercom dG9r b64 40 0
airtable key an? 14 14
lob live_|test_ hex 35 35
finicity fig_ an 40 0
mercadopago APP_USR- url 40 0
mollie live_|test_ an? 30 30
retool retool_ an 32 0
tines tines_ an 32 0
statuscake sc- an? 40 0
workos sk_test_|sk_live_ url 24 0
clerk sk_live_|sk_test_ an 24 0
"""

VARIOUS: Final = (
    (
        "private-key",
        "PRIVATE KEY",
        (
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?"
            r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)"
        ),
    ),
    (
        "private-key",
        "Static key",
        (
            r"-----BEGIN [A-Za-z0-9 ]{0,40}Static key V\d-----[\s\S]*?"
            r"(?:-----END [A-Za-z0-9 ]{0,40}Static key V\d-----|\Z)"
        ),
    ),
    (
        "private-key",
        "Private-Lines:",
        r"Private-Lines: ?\d+(?P<it>[\s\S]*?(?:Private-MAC:[ ]?[0-9a-fA-F]{0,80}|\Z))",
    ),
    ("private-key", '"d"', r'"d"[ ]?:[ ]?"(?P<it>[0-9A-Za-z_-]{32,})"'),
    ("aws", "A", r"\b(?:AKIA|ASIA|ABIA|ACCA|A3T[0-9A-Z])[0-9A-Z]{16}\b"),
    ("aws", "IQoJb3Jp", r"\bIQoJb3Jp[0-9A-Za-z+/=]{60,}"),
    ("azure", "Q~", r"(?<![\w~.-])[\w~.]{3}\dQ~[\w~.-]{28,}"),
    ("gitlab", "glcbt-", r"\bglcbt-[0-9A-Za-z]{1,5}_[\w-]{16,}"),
    ("hashicorp", ".atlasv1.", r"\b[0-9A-Za-z]{14}\.atlasv1\.[\w-]{40,}"),
    ("vault", "s.", r"(?<![\w./])[sbr]\.(?=[A-Za-z]{0,23}[0-9])[0-9A-Za-z]{24}(?![\w.])"),
    ("airtable", "pat", r"\bpat[0-9A-Za-z]{14}\.[0-9a-f]{64}"),
    ("braintree", "access_token$", r"\baccess_token\$\w{1,20}\$[0-9a-z]{16}\$[0-9a-f]{32}"),
    ("asana", "/", r"(?<![\w/.])[12]/\d{10,20}(?:/\d{10,20})?:[0-9a-f]{32}"),
    (
        "slack",
        "hooks.slack",
        r"\bhooks\.slack\.com/(?:services|workflows|triggers)/(?P<it>[\w/-]{20,})",
    ),
    ("discord", "/webhooks/", r"/api/(?:v\d+/)?webhooks/\d{15,22}/(?P<it>[\w-]{30,})"),
    ("discord", ".", r"(?<![\w.-])[MNO][\w-]{22,28}\.[\w-]{6}\.[\w-]{27,45}"),
    ("teams", "webhook", r"\bwebhook\.office\.com/webhookb2/(?P<it>[^\s\"'<>]{20,})"),
    ("telegram", ":AA", r"\b[0-9]{8,10}:AA[\w-]{33}"),
    ("new-relic", "NRAL", r"\b[0-9a-f]{36}NRAL\b"),
    ("mailchimp", "-us", r"\b[0-9a-f]{32}-us\d{1,2}\b"),
    ("cloudflare", "v1.0-", r"\bv1\.0-[0-9a-f]{24}-[0-9a-f]{60,}"),
    (
        "1password",
        "A3-",
        r"\bA3-[0-9A-Z]{6}-(?:[0-9A-Z]{11}|[0-9A-Z]{6}-[0-9A-Z]{5})(?:-[0-9A-Z]{5}){3}\b",
    ),
    ("mapbox", "k.eyJ", r"\b[stp]k\.eyJ[\w-]{20,}\.[\w-]{16,}"),
    ("jwt", "eyJ", r"(?<![0-9A-Za-z])eyJ[\w-]{8,}={0,2}\.eyJ[\w-]{4,}={0,2}\.[\w-]{8,}"),
    ("jwt", "eyJ", r"(?<![0-9A-Za-z])eyJ[\w-]{8,}\.[\w-]{0,400}\.[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}"),
    # A token that says so: dckr_pat_…, acme_live_…
    (
        "token",
        "_",
        (
            r"(?<=[0-9A-Za-z])[_-](?:pat|oat|sk|secret|token|tkn|apikey|live|prod|pw|oauth)"
            r"[_-](?P<it>(?=[A-Za-z]{0,40}[0-9])(?=[0-9]{0,40}[A-Za-z])[0-9A-Za-z]{20,})"
        ),
    ),
    # Addresses. A password may have any sign; a port and its path are none.
    (
        "url-password",
        "://",
        (
            r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@\"'<>]{0,100}:(?!\d{1,5}(?:/|$))"
            r"(?!\[redacted)(?P<it>[^\s\"'<>`]{1,200})@(?=\[?[0-9A-Za-z-])"
        ),
    ),
    ("url-password", "://", r"://(?P<it>(?=[A-Za-z_-]{0,60}[0-9])[^\s:/@\"'<>?#]{16,300})@"),
    (
        "url-password",
        "://",
        r"://(?P<it>(?=[A-Za-z_-]{0,60}[0-9])[^\s:/@\"'<>?#]{20,300}):[^\s/@]{0,60}@",
    ),
    ("url-password", "jdbc:", r"\bjdbc:[a-z:]{1,40}[\w.-]{1,60}/(?P<it>[^\s@\"']{3,100})@"),
    (
        "signature",
        "=",
        (
            r"(?i:[?&;](?:sig|signature|x-(?:amz|goog)-(?:signature|security-token)|key|hmac"
            r"|code|auth|ticket|jwt|sid|session)=)(?P<it>(?=[^\s&]{0,60}[0-9])[^\s&\"'<>#]{16,})"
        ),
    ),
    # Headers.
    (
        "bearer",
        "earer",
        r"(?i:\bBearer)[ \t]+(?P<it>(?=[^\s\"']{0,80}[0-9._-])[^\s\"',;<>$(){}]{12,})",
    ),
    (
        "bearer",
        "uthorization",
        (
            r"(?i:authorization)[\"']?[ \t]{0,3}[:=][ \t]{0,3}[\"']?"
            r"(?:[A-Za-z][\w-]{1,20}[ \t]+)?(?P<it>(?![\w.]{1,80}[(\[])(?=[^\s\"']{0,80}[0-9=/+])[^\s\"',;<>$(){}]{8,})"
        ),
    ),
    (
        "bearer",
        "uthorization",
        (
            r"(?i:authorization)[\"']?[ \t]{0,3}[:=][ \t]{0,3}[\"']?(?i:digest|aws4-\S{1,20}"
            r"|signature|oauth|hawk|negotiate|ntlm)[ \t]+(?P<it>[^\r\n]{16,2000})"
        ),
    ),
    (
        "cookie",
        "ookie",
        (
            r"(?i:\b(?:set-)?cookie[\"']?[ \t]{0,3}[:=])[ \t]{0,3}[\"']?"
            r"(?P<it>[\w.%-]{1,60}=[^\r\n\"']{4,4000})"
        ),
    ),
    (
        "cookie",
        "curl",
        (
            r"\bcurl\b[^\n|]{0,300}?[ \t](?:-b|--cookie)[ \t=]{1,3}[\"']?"
            r"(?P<it>[\w.%-]{1,60}=[^\r\n\"']{4,4000})"
        ),
    ),
    # Commands.
    (
        "password",
        "-",
        (
            r"\b(?:curl|wget|http|https|xh)\b[^\n|]{0,300}?[ \t](?:-u|-U|--user|--proxy-user|-a|"
            r"--auth)[ \t=]{0,3}[\"']?[^\s:\"'/]{1,100}:(?P<it>[^\s\"']{3,200})"
        ),
    ),
    (
        "password",
        "-p",
        (
            r"\b(?:mysql\w*|mariadb[\w-]*|7z[ar]?|rar|xtrabackup)\b[^\n|]{0,200}?[ \t]-p"
            r"[\"']?(?P<it>[^\s\"'-][^\s\"']{2,100})"
        ),
    ),
    (
        "password",
        "-p",
        (
            r"\b(?:sshpass|mongo\w*|(?:docker|podman|helm|az|oc|nerdctl|buildah|skopeo|npm|cf)\b"
            r"[^\n|]{0,60}?\blogin)\b[^\n|]{0,300}?[ \t]-p[ \t=]{0,3}[\"']?(?P<it>[^\s\"'-][^\s\"']{2,200})"
        ),
    ),
    (
        "password",
        "-P",
        (
            r"\b(?:zip|unzip|sqlcmd|bcp|isql)\b[^\n|]{0,200}?[ \t]-P[ \t]{0,3}[\"']?"
            r"(?P<it>[^\s\"'-][^\s\"']{2,100})"
        ),
    ),
    (
        "password",
        "-w",
        r"\bldap\w{2,12}\b[^\n|]{0,300}?[ \t]-w[ \t]{0,3}[\"']?(?P<it>[^\s\"'-][^\s\"']{2,100})",
    ),
    (
        "password",
        "-a",
        r"\bredis-cli\b[^\n|]{0,200}?[ \t](?:-a|--pass)[ \t]{1,3}[\"']?(?P<it>[^\s\"']{3,200})",
    ),
    (
        "password",
        "%",
        (
            r"\b(?:smbclient|rpcclient|mount|net|smbget|winexe)\b[^\n|]{0,200}?[ \t](?:-U|--user)"
            r"[ \t=]{0,3}[\"']?[^\s%\"']{1,100}%(?P<it>[^\s\"']{3,100})"
        ),
    ),
    (
        "password",
        "-k",
        r"\bopenssl\b[^\n|]{0,200}?[ \t]-k[ \t]+[\"']?(?P<it>[^\s\"'-][^\s\"']{3,100})",
    ),
    ("password", "net user", r"\bnet user[ \t]+\S{1,60}[ \t]+(?P<it>[^\s\"'/][^\s\"']{3,100})"),
    ("password", "/p:", r"[ \t]/p:(?P<it>[^\s\"'/]{4,100})"),
    ("password", "pass:", r"[ \t]\"?pass:(?P<it>[^\s\"']{3,200})"),
    (
        "password",
        "echo",
        (
            r"\b(?:echo|printf)[ \t]+(?:-n[ \t]+)?(?P<q>[\"']?)(?P<it>[^\n\"'|]{4,200}?)(?P=q)"
            r"[ \t]*\|[ \t]*(?:[^\n|]{0,120}?--(?:password-stdin|with-token)|sudo[ \t]+-S|chpasswd|passwd|"
            r"gpg[^\n|]{0,80}?--passphrase-fd)"
        ),
    ),
    (
        "password",
        "htpasswd",
        (
            r"\bhtpasswd[ \t]+-\w*b\w*[ \t]+[^\s]{1,200}[ \t]+(?:[^\s]{1,100}[ \t]+)?"
            r"(?P<it>[^\s\"'-][^\s\"']{3,100})"
        ),
    ),
    (
        "password",
        "/user:",
        r"(?i:\bnet[ \t]+use\b[^\n]{0,200}?/user:[^\s]{1,100}[ \t]+)(?P<it>[^\s\"'/][^\s\"']{3,100})",
    ),
    (
        "secret",
        "vault login",
        r"\bvault login[ \t]+(?P<it>(?=[A-Za-z.]{0,60}[0-9])[^\s\"'=-][^\s\"'=]{15,})",
    ),
    ("secret", "--from-literal", r"--from-literal[ =][\"']?[\w.-]{1,80}=(?P<it>[^\s\"']{4,500})"),
    # Files, and SQL.
    (
        "password",
        "machine",
        r"\bmachine[ \t]+\S{1,200}\s{1,8}login[ \t]+\S{1,100}\s{1,8}password[ \t]+(?P<it>\S{3,200})",
    ),
    (
        "password",
        "default",
        r"\bdefault[ \t]+login[ \t]+\S{1,100}\s{1,8}password[ \t]+(?P<it>\S{3,200})",
    ),
    (
        "password",
        ":",
        r"(?m:^)[\w.*-]{1,100}:(?:5432|5433|6432|3306|\*):[\w*-]{1,60}:[\w*-]{1,60}:(?P<it>\S{4,200})(?m:$)",
    ),
    (
        "hash",
        "$",
        r"\$(?:apr1|1|2[abxy]|5|6|7|y|gy|argon2id?|scrypt|pbkdf2[\w-]{0,12})\$[\w./$,=+-]{20,}",
    ),
    (
        "password",
        "requirepass",
        r"\b(?:requirepass|masterauth|rootpw)[ \t]+[\"']?(?P<it>[^\s\"']{4,200})",
    ),
    (
        "password",
        "dentified",
        (
            r"(?i:\bidentified[ \t]+(?:with[ \t]+\S{1,40}[ \t]+)?(?:by|as)[ \t]+(?:password[ \t]+)?)"
            r"[\"']?(?P<it>[^\s\"';]{4,200})"
        ),
    ),
    (
        "password",
        "IDENTIFIED",
        (
            r"\bIDENTIFIED[ \t]+(?:WITH[ \t]+\S{1,40}[ \t]+)?(?:BY|AS)[ \t]+(?:PASSWORD[ \t]+)?"
            r"[\"']?(?P<it>[^\s\"';]{4,200})"
        ),
    ),
    (
        "password",
        "auth",
        (
            r"(?i:\bauth)[ \t]{0,3}[=(:][ \t]{0,3}[(\[]?[\"'][^\"'\n]{1,100}[\"'][ \t]{0,3},[ \t]{0,3}"
            r"[\"'](?P<it>[^\"'\n]{4,200})[\"']"
        ),
    ),
    (
        "password",
        "Auth(",
        r"\b\w{0,20}Auth\([\"'][^\"'\n]{1,100}[\"'][ \t]{0,3},[ \t]{0,3}[\"'](?P<it>[^\"'\n]{4,200})[\"']",
    ),
    (
        "seed",
        " ",
        (
            r"(?i:\b(?:seed|recovery|mnemonic|backup)[ _-]?(?:phrase|words?|key)?[\"']?[ \t]{0,3}(?:[:=]|is)"
            r"[ \t]{0,3})[\"']?(?P<it>(?:[a-z]{3,8}[ \t]){11,23}[a-z]{3,8}\b)"
        ),
    ),
    (
        "otp",
        "otpauth:",
        r"\botpauth://[^\s?]{1,200}\?[^\s\"']{0,200}?secret=(?P<it>[0-9A-Za-z=]{8,})",
    ),
)
"""Kind, a part that a text must have, and a pattern. The secret is the group `it`, or all."""
