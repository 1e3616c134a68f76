"""Finds credentials in a text by their pattern: keys, tokens, passwords.

Capture refuses a turn that holds one. Only the kind is ever returned, never the secret itself, so
that no report, log or error can repeat it. Patterns find what has a shape; a password in plain
prose without one ("it is swordfish") is not found, as docs/capture.md says.
"""

from __future__ import annotations

import re
from typing import Final

from memoriter.text.named_secrets import is_named
from memoriter.text.secret_values import (
    FAKE,
    IDENTIFIER,
    LETTER_AND_DIGIT,
    MADE_UP,
    QUANTITY,
    is_mixed,
    is_other,
    is_phrase,
    is_secret,
)
from memoriter.text.stops import word_table

_LONG_VALUE: Final = (
    r"(?=(?:[A-Za-z_~+=-]{0,40}\d){3})(?=[\d_~+=-]{0,40}[A-Za-z])[\w~+=-]{20,}(?![\w./(])"
)
"""A value of a header that is known by itself: three digits at least, and no path or call."""
SPACED_SHAPES: Final[tuple[tuple[str, str], ...]] = (
    ("private key", r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"),
    ("private key of PuTTY", r"\bPuTTY-User-Key-File-\d: "),
    ("AWS secret key", r"(?i)\baws_?secret\w{0,20}[\"']?\s{0,3}[=:]\s{0,3}[\"']?[A-Za-z0-9/+]{40}"),
    ("Fly token", r"\bFlyV1 fm\d_[\w+/=,-]{40,}|\bfo1_[\w-]{40,}"),
    ("Okta token", r"\bSSWS 00[\w-]{40}"),
    (
        "authorization header",
        r"(?i)\bauthorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?"
        rf"(?:(?:basic|bearer|token)\s[\w.~+/=-]{{12,}}|{_LONG_VALUE})|\bbearer\s{{1,3}}{_LONG_VALUE}",
    ),
    (
        "session cookie",
        r"(?i)\bcookie[\"']?: [^\n]{0,200}?(?<![\w-])"
        rf"((?![\w.%+/=-]{{0,200}}(?:{FAKE}))[\w-]{{0,40}}?(?:sess|sid|auth|token)[\w-]{{0,20}}"
        r"=(?=\D{0,40}\d)[\w.%+/-]{16,})",
    ),
)  # fmt: skip
"""(the kind, its pattern) of what may have a space in it; a group is the secret and its name."""
WORD_SHAPES: Final[tuple[tuple[str, str], ...]] = (
    ("age secret key", r"\bAGE-SECRET-KEY-1[0-9A-Z]{40,}"),
    ("AWS access key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    ("GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,})"),
    ("GitLab token", r"\bgl(?:pat|dt|rt|soat|cbt|ptt|ft)-[\w-]{20,}"),
    ("Slack token", r"\bxox[abcdeoprs]-[A-Za-z0-9%+/-]{10,}|\bxapp-\d-[A-Za-z0-9-]{10,}"),
    ("Slack webhook", r"https://hooks\.slack\.com/services/T\w+/B\w+/\w+"),
    ("Discord webhook", r"https://discord(?:app)?\.com/api/webhooks/\d+/[\w-]{20,}"),
    ("Stripe key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|\bwhsec_[A-Za-z0-9]{24,}"),
    ("Anthropic key", r"\bsk-ant-[\w-]{20,}"),
    ("OpenAI key", r"\bsk-(?!ant-)(?=[\w-]{0,200}\d)(?:[a-z0-9]{1,10}-)?[A-Za-z0-9_-]{20,}"),
    ("Google API key", r"\bAIza[\w-]{35}"),
    ("Google OAuth secret", r"\bGOCSPX-[\w-]{20,}|\bya29\.[\w-]{20,}"),
    ("Docker token", r"\bdckr_[po]at_[\w-]{20,}"),
    ("npm token", r"\bnpm_[A-Za-z0-9]{36}"),
    ("PyPI token", r"\bpypi-[A-Za-z0-9_-]{50,}"),
    ("SendGrid key", r"\bSG\.[\w-]{16,}\.[\w-]{16,}"),
    ("Twilio key", r"\bSK[0-9a-f]{32}\b"),
    ("Mailgun key", r"\bkey-[0-9a-f]{32}\b"),
    ("JSON web token", r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"),
    ("Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("Groq key", r"\bgsk_[A-Za-z0-9]{40,}"),
    ("Replicate token", r"\br8_[A-Za-z0-9]{30,}"),
    ("DigitalOcean token", r"\bdo[opr]_v1_[0-9a-f]{64}"),
    ("Telegram bot token", r"\b\d{8,10}:AA[\w-]{32,}"),
    ("Discord token", r"\b[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}"),
    ("Azure storage key", r"\bAccountKey=[A-Za-z0-9+/=]{40,}"),
    ("Vault token", r"\bhv[bsr]\.[\w-]{20,}"),
    ("Databricks token", r"\bdapi[0-9a-f]{32}\b"),
    ("Linear key", r"\blin_(?:api|oauth)_[A-Za-z0-9]{30,}"),
    ("Shopify token", r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    ("Square token", r"\bsq0(?:atp|csp)-[\w-]{22,}"),
    ("Square or Meta token", r"\bEAA[A-Za-z0-9_-]{57,}"),
    ("Mailchimp key", r"\b[0-9a-f]{32}-us\d{1,2}\b"),
    ("RubyGems key", r"\brubygems_[0-9a-f]{48}"),
    ("Cargo token", r"\bcio[A-Za-z0-9]{32}\b"),
    ("PlanetScale token", r"\bpscale_(?:tkn|pw|oauth)_[\w.-]{30,}"),
    ("Netlify token", r"\bnfp_[A-Za-z0-9]{36,}"),
    ("Tailscale key", r"\btskey-[a-z]{2,10}-[\w-]{15,}"),
    ("Pulumi token", r"\bpul-[0-9a-f]{40}\b"),
    ("CircleCI token", r"\bCCIPAT_[A-Za-z0-9]{20,}_[0-9a-f]{30,}"),
    ("Buildkite token", r"\bbk[cu]a_[0-9a-f]{40}\b"),
    ("HubSpot token", r"\bpat-(?:na|eu|ap)\d-[0-9a-f]{8}-[0-9a-f-]{27}"),
    ("1Password token", r"\bops_eyJ[\w-]{60,}"),
    ("Asana token", r"\b[12]/\d{16}(?:/\d{16})?:[0-9a-f]{32}\b"),
    ("Dropbox token", r"\bsl\.[\w.-]{100,}"),
    ("Artifactory key", r"\bAKCp[A-Za-z0-9]{60,}"),
    ("NuGet key", r"\boy2[a-z0-9]{43}\b"),
    ("LangSmith key", r"\blsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    ("xAI, Perplexity or Cerebras key", r"\b(?:xai|pplx|csk)-[A-Za-z0-9]{32,}"),
    ("NVIDIA key", r"\bnvapi-[\w-]{60,}"),
    ("Tavily key", r"\btvly-(?:dev-|prod-)?[A-Za-z0-9]{32}"),
    ("Jina key", r"\bjina_[A-Za-z0-9_-]{50,}"),
    ("signature in a URL", r"[?&](?:sig|X-Amz-Signature|X-Goog-Signature)=[\w%+/-]{40,}"),
    ("Notion token", r"\bntn_[A-Za-z0-9]{40,}|\bsecret_[A-Za-z0-9]{43}\b"),
    ("Figma token", r"\bfigd_[\w-]{30,}"),
    ("Atlassian token", r"\bATATT3[\w=-]{30,}"),
    ("Doppler token", r"\bdp\.(?:pt|st|ct|sa)\.[\w.-]{30,}"),
    ("Grafana token", r"\bglsa_[A-Za-z0-9]{30,}|\bglc_[A-Za-z0-9+/=]{30,}"),
    ("New Relic key", r"\bNRAK-[A-Z0-9]{27}"),
    ("Sentry token", r"\bsntry[su]_[\w=+/-]{30,}"),
    ("Supabase token", r"\bsbp_[0-9a-f]{40}"),
    ("Airtable token", r"\bpat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("Postman key", r"\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    ("Memoriter token", r"\bmem_[0-9a-f]{8,32}_[\w-]{20,}"),
)  # fmt: skip
"""The same of what is one long word."""
_LONG_WORDS: Final = re.compile(r"\S{15,}")
_IN_TEXT: Final = tuple((kind, re.compile(shape)) for kind, shape in SPACED_SHAPES)
_IN_WORDS: Final = tuple((kind, re.compile(shape)) for kind, shape in WORD_SHAPES)
_URL: Final = re.compile(
    r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"'`<>]{0,100}:([^\s/@\"'`<>]{3,200})@"
)
_CONNECTION: Final = re.compile(
    r"(?i)\b(?:server|host|user|user id|data source|endpoint)=[^\n,()]{1,300}?"
    r"(?:; ?|&| )(?:password|pwd|sharedaccesskey)=([^\s;&\"'(){}<>]{4,200})"
)
"""Settings in one line: `Server=…;Password=…`, `host=… password=…`, `?user=…&password=…`."""
_COMMANDS: Final = tuple(
    (word, re.compile(shape))
    for word, shape in (
        (
            "curl",
            r"\bcurl\b[^\n]{0,200}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,60}:([^\s\"']{4,200})",
        ),
        (
            "docker login",
            r"\bdocker login\b[^\n]{0,100}?\s(?:-p|--password)[ =][\"']?([^\s\"']{4,200})",
        ),
        ("mysql", r"\bmysql(?:dump)?\b[^\n]{0,100}?\s-p[\"']?([^\s\"']{4,200})"),
        ("sshpass", r"\bsshpass\s+-p\s*[\"']?([^\s\"']{4,200})"),
        ("redis-cli", r"\bredis-cli\b[^\n]{0,200}?\s(?:-a|--pass)[ =]?[\"']?([^\s\"']{4,200})"),
        ("mongo", r"\bmongo(?:sh|dump|restore)?\b[^\n]{0,200}?\s-p[ =]?[\"']?([^\s\"']{4,200})"),
        (
            "ldap",
            r"\bldap(?:search|add|modify|delete|whoami)\b[^\n]{0,200}?\s-w"
            r" ?[\"']?([^\s\"']{4,200})",
        ),
        ("openssl", r"\bopenssl\b[^\n]{0,200}?\s-pass(?:in|out)?\s+[\"']?pass:([^\s\"']{4,200})"),
        ("login", r"\blogin\s+\S{1,100}\s+password\s+(\S{4,200})"),
    )
)
"""(its first word, the pattern) of commands that take a password, and of lines of a `.netrc`."""
_CHOSEN: Final = r"passw(?:or)?d|pass[ _-]?phrase|passwd|pwd|(?<![a-z])pw(?![a-z])|secret"
_NAMES: Final = (
    rf"{_CHOSEN}|api[ _-]?key|access[ _-]?key|secret[ _-]?key|auth[ _-]?token|access[ _-]?token"
    r"|refresh[ _-]?token|client[ _-]?secret|token|(?<=_)pat(?![a-z])"
)
_PARTS_OF_NAMES: Final = ("pass", "pw", "secret", "key", "token", "_pat", "auth")
"""Whatever is called a secret has one of these in its name; most texts have none."""
_SUFFIX: Final = r"(?:_(?:base|prod|production|staging|stage|dev|test|live|main|old|new|\d))?"
"""What may follow the name of a secret: SECRET_KEY_BASE, DB_PASSWORD_PROD."""
_VALUE: Final = r"([\"'`]?)([^\s\"'`,;(){}\[\]<>]{6,200})\2"
_QUOTED: Final = re.compile(
    rf"(?i)(?:{_NAMES})[\"'`]?\s{{0,3}}(?:=>|:=|=|:)\s{{0,3}}"
    r"([\"'])((?=[^\s\"']{0,200}\d)[^\s\"']{20,200})\1"
)
"""A long value in quotes may have brackets and other signs."""
_SIGNED: Final = re.compile(
    rf"(?i)(?:{_CHOSEN}){_SUFFIX}[\"'`]?\s{{0,3}}(?:=>|:=|=|:)\s{{0,3}}[\"']?"
    r"(?=[^\s\"'`;{}<>]{0,200}[,()\[\]])([^\s\"'`;{}<>/.~()\[\]][^\s\"'`;{}<>]{5,199}+)"
)
"""A value with brackets or a comma, which a person chose: no generated key has them."""
_NAME: Final = r"[A-Za-z_$][\w:]*+(?:[?!]?\.[\w:]*+)*+"
_CODE: Final = re.compile(
    rf"{_NAME}(?:\(.*\)|\[.*\])(?:[?!]?[-+*/|&=?:.,)\]\[(].*)?|{_NAME}(?:\([^)]*|\[[^\]]*)"
)
"""A call, an item of a list or a type, also one that the next space cuts."""
_WORDS: Final = re.compile(r"[\w.*|-]*")
_ASSIGNED: Final = re.compile(
    rf"(?i)({_NAMES}){_SUFFIX}[\"'`]?\s{{0,3}}(?:=>|:=|=|:)\s{{0,3}}{_VALUE}"
)
_WHOLE_VALUE: Final = r"[^\s\"'`,;(){}\[\]<>]{6,200}+(?!\()"
"""The same to its end, so that no call of a function is taken for a value."""
_OPTION: Final = re.compile(
    r"(?i)(?<![\w-])--(?:[a-z0-9]{1,20}-){0,3}"
    r"(passw(?:or)?d|passphrase|pwd|pass|secret|token|(?:api|access|secret|auth|private|encryption"
    rf"|signing|master|account|license)-?key)(?:=|\s{{1,3}})[\"']?({_WHOLE_VALUE})"
)
"""An option of a command and its value: `--password …`, `--api-key=…`."""
_SHORT_NAME: Final = re.compile(
    r"(?:[_-](?P<word>(?i:pass|key|auth))|(?<=[a-z])(?P<part>Pass|Key))(?i:" + _SUFFIX + r")"
    rf"[\"'`]?\s{{0,3}}(?:=>|:=|=|:)\s{{0,3}}[\"']?(?P<value>{_WHOLE_VALUE})"
)
"""A setting whose name ends in `pass`, `key` or `auth`: DB_PASS, ENCRYPTION_KEY, signingKey."""
_QUOTED_PASS: Final = re.compile(
    rf"(?i)(?<![\w-])pass[\"']?\s{{0,3}}[:=]\s{{0,3}}([\"'])({_WHOLE_VALUE})\1"
)
_LAST_PART: Final = re.compile(r"[A-Za-z][a-z0-9]*$|[A-Z][A-Z0-9]*$")
_GENERATED: Final = 16
"""A secret key has at least so many characters."""
_SECRET_KEYS: Final = word_table(
    "encryption decryption signing private master session jwt hmac app auth deploy license account"
    " storage shared service crypto cipher aes webhook cookie"
)
"""What is before `key` in the name of a key that is secret, in any case of letters."""
_OPEN_KEYS: Final = word_table(
    "public primary foreign cache sort partition routing idempotency unique hash lookup object s3"
    " bucket publishable site shortcut group dedup row map redis range index shard"
)
"""The same of one that is not; all others are secret where the name is in capitals."""
_PASSES: Final = word_table(
    "first second third last next two one single multi per each render shader shadow depth light"
    " lighting geometry forward post effect bloom blur compiler optimizer"
)
"""What is before `pass` where it is a run over something."""
_SPOKEN: Final = re.compile(
    rf"(?i)\b({_NAMES})(?!\s(?:hash|policy|manager|field|file|reset|format|type|limit|budget|count))"
    rf"(?:\s\w{{1,20}}){{0,3}}?\s(?:is|was|to)\s(?:now\s)?{_VALUE}"
)
_ESCAPED_QUOTES: Final = re.compile(r"(?<!\\)\\++([\"'])")
_PLACE: Final = re.compile(
    r"[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+"
    r"|(?:[a-z][a-z_.-]{0,19}\d{0,3}/)+[a-z][a-z_.-]{0,19}\d{0,3}(?:\.[a-z]{1,4})?"
)
"""Where a link to a password was sent to, or a password was moved to."""
_CALL: Final = re.compile(r"[A-Za-z_.]{1,60}(?:\d{1,2}[A-Za-z_.]{0,60})?\(")


def secret_kinds(text: str) -> tuple[str, ...]:
    """The kinds of the secrets in a text, each once, in the order of the table.

    >>> secret_kinds("deploy with AKIAQ3EGT7LBMWZN2XYR, then tell me")
    ('AWS access key',)
    >>> secret_kinds("the docs of AWS have AKIAIOSFODNN7EXAMPLE")
    ()
    >>> secret_kinds("the token budget is 800, the password is required")
    ()
    """
    words = "\n".join(_LONG_WORDS.findall(text))  # few, so that many patterns take little time
    kinds = [kind for kind, pattern in _IN_TEXT if _has_real(pattern, text)]
    kinds += [kind for kind, pattern in _IN_WORDS if _has_real(pattern, words)]
    if any(is_secret(match[1]) for match in _URL.finditer(text)):
        kinds.append("password in a URL")
    folded = text.casefold()
    named = any(part in folded for part in _PARTS_OF_NAMES)
    if named and any(is_secret(match[1]) for match in _CONNECTION.finditer(text)):
        kinds.append("password in the settings of a connection")
    shapes = [shape for word, shape in _COMMANDS if word in text]
    commands = (match[1] for shape in shapes for match in shape.finditer(text))
    if any(map(is_secret, commands)) or any(map(_is_option, _OPTION.finditer(text))):
        kinds.append("password in a command")
    if not kinds and ((named and (_is_assigned(text) or _is_short_named(text))) or is_named(text)):
        kinds.append("password or key")
    if not kinds and _ESCAPED_QUOTES.search(text):
        return secret_kinds(_ESCAPED_QUOTES.sub(r"\1", text))
    return tuple(kinds)


def _has_real(pattern: re.Pattern[str], text: str) -> bool:
    """Whether a text has a match of a pattern that is no made-up example."""
    return any(not MADE_UP.search(match[match.lastindex or 0]) for match in pattern.finditer(text))


def _is_assigned(text: str) -> bool:
    """Whether a value is given to something called a password, a key or a token."""
    if any(is_secret(match[2]) for match in _QUOTED.finditer(text)):
        return True
    if any(_is_signed(match[1]) for match in _SIGNED.finditer(text)):
        return True
    for pattern in (_ASSIGNED, _SPOKEN):
        for match in pattern.finditer(text):
            quoted, value = match[2] in ("'", '"'), match[3].rstrip(".!?")
            named = quoted or not IDENTIFIER.match(value) or is_phrase(match[1], value)
            if pattern is _SPOKEN and _PLACE.fullmatch(value):
                continue
            if not quoted and (is_other(value) or _CALL.match(text, match.start(3))):
                continue
            if named and is_secret(value) and any(not c.isalpha() for c in value):
                return True
    return False


def _is_signed(value: str) -> bool:
    """Whether a value with brackets or a comma is a secret, and no code or list of words."""
    value = value.rstrip(",.:!?)]") if value.count("(") < value.count(")") else value.rstrip(",.!?")
    parts = value.split(",")
    listed = any("=" in part or ":" in part for part in parts[1:])
    if listed or _CODE.fullmatch(value) or all(map(_WORDS.fullmatch, parts)):
        return False
    return bool(LETTER_AND_DIGIT.match(value)) and is_secret(value)


def _is_option(match: re.Match[str]) -> bool:
    """Whether the value of an option of a command is a secret."""
    name, value = match[1].lower(), match[2]
    digits = any(map(str.isdigit, value)) and (name[:2] == "pa" or not QUANTITY.fullmatch(value))
    return (digits or is_phrase(name, value)) and is_mixed(value)


def _is_short_named(text: str) -> bool:
    """Whether a setting whose name ends in `pass`, `key` or `auth` has a secret for its value."""
    if any(is_mixed(match[2]) for match in _QUOTED_PASS.finditer(text)):
        return True
    for match in _SHORT_NAME.finditer(text):
        last, value = match["word"] or match["part"], match["value"].rstrip(".!?")
        before = _LAST_PART.search(text[max(0, match.start() - 40) : match.start()])
        if before is None or QUANTITY.fullmatch(value) or is_other(value):
            continue
        part = before[0].lower()
        if last.lower() == "key":
            mixed = len(value) >= _GENERATED and any(map(str.isdigit, value))
            named = part in _SECRET_KEYS or (last == "KEY" and part not in _OPEN_KEYS)
        else:
            mixed, named = True, last == "AUTH" or (last[0] in "pP" and part not in _PASSES)
        if named and mixed and is_mixed(value):
            return True
    return False
