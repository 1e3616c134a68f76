"""Passwords that are known by their name alone: in many languages, short, or without a sign.

"Das Passwort lautet …", "пароль: …", "pw hunter2", "X-Auth: …". A value must have a letter and a
digit, so that prose about passwords is none; behind a name and a sign, digits are enough. What has
the shape of a credential is found by `text.secrets`.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from memoriter.text.secret_values import (
    IDENTIFIER,
    LETTER_AND_DIGIT,
    METHOD,
    PLACEHOLDER,
    QUANTITY,
    SHORTEST,
    is_mixed,
    is_other,
)
from memoriter.text.stops import word_table

_SHORT_NAMES: Final = r"pwd|pw|mdp"
_ASSIGNED_NAMES: Final = r"passwd|(?<=_)pass|parola|парола|lozinka|geslo|slaptažodis|parool|κωδικός"
"""Names of passwords before a sign only: `passwd` is a command too, `parola` is a word."""
_LONG_NAMES: Final = (
    r"pass[ _-]?(?:word|phrase|code)|[^\W\d_]*(?:passw[oö]rt(?:e?s|er)?|kennwort|wachtwoord"
    r"|l[oö]senord(?:et)?|adgangskode[nr]?)|contrase[ñn]as?|mot[ -]de[ -]passe|senhas?"
    r"|palavra[ -]passe|kodeord(?:et)?|passord(?:et)?|has[łl][oa]|hesl[oa]|salasana|jelsz[óo]"
    r"|[şs]ifre(?:si|m|miz|niz)?|parolă|парол[ья]|κωδικός πρόσβασης|סיסמה"
    r"|סיסמא|كلمة المرور|كلمة السر|पासवर्ड|mật khẩu|kata sandi"
)
_UNSPACED_NAMES: Final = r"密码|密碼|口令|パスワード|暗証番号|비밀번호|รหัสผ่าน"
"""Of languages that put no space behind them."""
_PARTS: Final = sorted(
    word_table(
        """
        pass pw mdp kennwort wachtwoord senord adgangskode contrase senha kodeord hasł haslo heslo
        hesla salasana jelsz ifre parol parool парол lozinka geslo slaptažodis κωδικό סיסמ كلمة
        पासवर्ड khẩu sandi
        """
    )
)
"""A text without any of these, and without one of the names above, has no name of a password."""
_UNSPACED_PARTS: Final = tuple(_UNSPACED_NAMES.split("|"))
_OF: Final = (
    r"(?:\s(?:for|of|to|on|del|de|du|da|do|für|vom|von|zum|van|voor|för|til|pour|para|dla|na|od|от|для|на)"
    r"(?:\s(?!user|login|account|e?mail|name)[\w'’-]{1,20}){1,3}?|\s(?:wi-?fi|wlan))?"
)
"""What a password is for: "password for the guest wifi: …"."""
_SIGN: Final = (
    r"[\"'`]?(?:\s\((?![^()]{0,30}(?:min|max|len|size|limit|count))[^()\n]{1,30}\))?\*{0,2}\s{0,3}"
    r"(?:=>|->|→|:=|=|:|：|\|)\*{0,2}\s{0,3}"
)
_VERB: Final = (
    r"(?:['’]s|\s(?:will be|такой|is|ist|lautet|es|(?:c['’])?est|é|è|er|är|là|on|jest|je|to|это"
    r"|είναι|(?:(?:was|is|has been)\s)?(?:changed|set|reset|updated|rotated) to|—|–|-)):?\s"
    r"(?:now\s)?"
)
_VALUE: Final = r"[\"'`«„“”]?\s?(?P<value>[\w!#$%&*+./:=?@^|~\\-]{4,200}+)(?![(\[])"
_START: Final = r"(?i)(?<![^\W_])"
_GIVEN: Final = (
    re.compile(
        rf"{_START}(?:{_LONG_NAMES}|(?P<short>{_SHORT_NAMES}))(?!\w){_OF}(?:(?P<sign>{_SIGN})|{_VERB}){_VALUE}"
    ),
    re.compile(rf"{_START}(?:{_ASSIGNED_NAMES})(?!\w)(?P<short>)(?P<sign>{_SIGN}){_VALUE}"),
    re.compile(
        rf"(?:{_UNSPACED_NAMES})(?P<short>)\s{{0,2}}(?:是|为|為|は|는|은)?\s{{0,2}}(?P<sign>[:：=])?\s{{0,2}}{_VALUE}"
    ),
)  # fmt: skip
_BARE: Final = re.compile(rf"{_START}(?:{_LONG_NAMES}|{_SHORT_NAMES})\s{{1,2}}{_VALUE}")
_ENDS: Final = re.compile(
    r"[\"'`»“”]?(?:\s*$|\s?[»|]|[.,;!?)\]}]|\s(?:for|on|in|and|to|at|with|then|or)\b)", re.M
)
"""What may follow a short value, or one without a sign: the clause ends there."""
_TECHNICAL: Final = re.compile(
    r"(?i)(?:sha|md|utf|base|oauth|auth|argon|pbkdf|bcrypt|scrypt|aes|rsa|wpa|tls|http|ipv|u?int|str"
    r"|char|python|php|node|version|step|part|field|form|box|rule|page|option|level|type|row|column"
    r"|line|file|key|token|hash|salt|phase|section|table|user|test|host|server|input|value|arg|pass"
    r"|pwd|pw|passwd|password|attempt|item|v)[-_.]?\d{1,4}\w{0,2}|\d+(?:st|nd|rd|th)"
)
"""Names of methods, types and places with a number, and ordinals."""
_PATH: Final = re.compile(r"[\w.-]+(?:/[\w.-]+)+/?")
_DIGITS: Final = re.compile(r"\d{4,}")
_SIZE: Final = re.compile(r"\d{3}0|1024|2048|4096|8192|(?:19|20)\d\d")
"""A width or a year rather than a password, behind a short name: `pw = 1280`."""
_ASCII: Final = re.compile(r"[!-~]{4,}")
_UNSPACED: Final = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")
"""Letters of languages that put no space between words."""
_YEAR_AND_LETTERS: Final = re.compile(r"\d{4}(?!bits?$|byte|char|days?$)[A-Za-z]{3,}")
_TAG: Final = re.compile(
    r"(?i)<[\w:.-]{0,30}?(?:password|passwd|passphrase|pwd|secret|token|(?:api|access|secret)[_-]?key)"
    r"(?:\s[^<>]{0,60})?>\s{0,3}(?P<value>[^\s<>]{6,200})\s{0,3}</"
)
"""The text of an element of XML: <password>…</password>."""
_HEADER: Final = re.compile(
    r"(?i)(?<![\w-])(?:x(?:-[a-z0-9]{1,20}){0,4}?(?:-(?P<before>[a-z0-9]{1,20}))?"
    r"-(?P<last>auth|session|credentials?|token|secret|key|password|access)"
    r"|(?:private|api|auth|access)-token|[a-z-]{1,30}-subscription-key)"
    r"[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:(?:basic|bearer|token|apikey|digest)\s)?"
    r"(?P<value>[!#$%&*+./0-9:=?@A-Z^_a-z|~\\-]{6,200}+)(?![(\[])"
)
_OPEN_PARTS: Final = word_table("cache idempotency surrogate partition routing public sort dedup")
"""What is before `key` in a header that is not secret."""


def is_named(text: str) -> bool:
    """Whether a text gives the value of a password or of a header that is secret.

    >>> is_named("Das Passwort für den Router lautet Xk29pl"), is_named("login ann, pw hunter2")
    (True, True)
    >>> is_named("the password is required"), is_named("password: 12 characters at least")
    (False, False)
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    folded = text.casefold()
    if any(part in folded for part in _PARTS):
        if any(_is_given(match) for shape in _GIVEN[:2] for match in shape.finditer(text)):
            return True
        if any(_is_bare(match) for match in _BARE.finditer(text)):
            return True
    if any(part in text for part in _UNSPACED_PARTS) and any(
        map(_is_given, _GIVEN[2].finditer(text))
    ):
        return True
    if "</" in text and any(_is_password(match["value"]) for match in _TAG.finditer(text)):
        return True
    return "-" in text and any(map(_is_header, _HEADER.finditer(text)))


def _is_given(match: re.Match[str]) -> bool:
    value = match["value"].rstrip(".!?:")
    ends = _ENDS.match(match.string, match.start("value") + len(value)) is not None
    if match["sign"] and _DIGITS.fullmatch(value):
        return ends and not (match["short"] and _SIZE.fullmatch(value))
    if not _is_quoted(match) and is_other(value):
        return False
    return _is_password(value) and (len(value) >= SHORTEST or ends)


def _is_bare(match: re.Match[str]) -> bool:
    value = match["value"].rstrip(".!?:")
    at_end = _ENDS.match(match.string, match.start("value") + len(value)) is not None
    other = not _is_quoted(match) and is_other(value)
    return at_end and len(value) >= SHORTEST and _is_password(value) and not other


def _is_quoted(match: re.Match[str]) -> bool:
    return match.string[match.start("value") - 1] in "\"'«„“”"


def _is_password(value: str) -> bool:
    """Whether a value has a letter and a digit, and is nothing else that has."""
    if not value.isascii():
        return _is_foreign(value)
    if not LETTER_AND_DIGIT.match(value) or "://" in value:
        return False
    others = (PLACEHOLDER, METHOD, IDENTIFIER, QUANTITY, _TECHNICAL, _PATH)
    return not any(pattern.fullmatch(value) for pattern in others)


def _is_foreign(value: str) -> bool:
    """The same of a value with letters beyond ASCII: a word and a number, in front of it none."""
    ascii_part = max(_ASCII.findall(value), key=len, default="")
    if _UNSPACED.search(value):  # a clause, maybe with a password in it
        ascii_part = ascii_part.rstrip(".!?:")
        chosen = _is_password(ascii_part) and not is_other(ascii_part)
        long = len(ascii_part) >= SHORTEST
        return long and (chosen or bool(_YEAR_AND_LETTERS.fullmatch(ascii_part)))
    others = (METHOD, _TECHNICAL)
    named = is_other(ascii_part) or any(pattern.fullmatch(ascii_part) for pattern in others)
    digits = sum(map(str.isdigit, value))
    return digits > 1 and any(map(str.isalpha, value)) and not value[0].isdigit() and not named


def _is_header(match: re.Match[str]) -> bool:
    before, value = (match["before"] or "").lower(), match["value"].rstrip(".!?:")
    is_open = (match["last"] or "").lower() == "key" and before in _OPEN_PARTS
    return not is_open and _is_password(value) and is_mixed(value)
