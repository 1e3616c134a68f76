"""Whether a value may be a secret: neither a placeholder, a word, a quantity, nor a name in code.

`text.secrets` and `text.named_secrets` find the values.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Final

from memoriter.text.stops import ENGLISH_STOPS, word_table

FAKE: Final = r"example|x{6}|0{8}|1234567890|abcdefghij|(?<=[-_])your[-_]"
"""Parts of a key or a token that people write in place of a real one."""
_TYPE: Final = re.compile(r"(?:[A-Z][a-z]+\d{0,6}){2,}")
"""The name of a type in code: Ed25519PrivateKey."""
QUANTITY: Final = re.compile(r"(?i)[\d.,:/x%+-]+[a-z%]{0,4}")
_PHRASE: Final = re.compile(r"[a-z]{3,12}(?:-[a-z]{3,12}){3,}")
"""A password of several words: correct-horse-battery-staple."""
_REFERRING: Final = ENGLISH_STOPS | word_table(
    "password passphrase secret token key vault user admin root prod staging name env file see use"
    " must required credential credentials"
)
"""Words of a sentence, or of the name under which a password is kept."""
PLACEHOLDER: Final = re.compile(
    r"(?i)\$+(?:[({].*|[a-z_][\w.:/$\[\]@?&=-]*|\d)|(?:%[-\d.]*[a-z][\W_]*)+|%(?:\w+%|\(.*)|[{<].*"
    r"|[~.]?/[\w./-]*|(?-i:[a-z][a-z_-]*(?:/[a-z0-9_-]{1,20}){2,})|[*]+|[.]+|x{3,}[\W_\dx]*"
    r"|your(?:[-_.][\w.-]*|[a-z]*(?:(?:pass|word|secret|token|key)\d{0,4})?)|my[-_][\w.-]*"
    r"|(?:example|placeholder|dummy|redacted)[\w.-]*|change[-_]?me[-_\d!]{0,5}"
    r"|(?:test|none|null|true|false|pass|password|passwd|pwd|secret)\W*"
    r"|(?:process\.env|os\.environ|env\.|config\.|settings\.)[\w.?-]*"
)
"""A value that as a whole stands for another one."""
METHOD: Final = re.compile(
    r"(?i)(?:hmac-?)?(?:sha|md|utf|base|oauth|argon|pbkdf|bcrypt|scrypt|aes|rsa|none|null)[-_]?"
    r"\d{1,4}(?:[-_]?[a-z]{1,12}){0,2}|(?:min|max)_?length\d{1,3}|utf8mb[34]\w{0,20}"
    r"|(?:jwt-?)?[ehpr]s(?:256|384|512)"
)
"""A method of hashing, or a name of an option in code: argon2id, minLength8."""
_OTHER: Final = re.compile(
    r"[A-Z]{2,10}(?:-\d{1,6}){1,2}"  # a ticket, an error or a standard: PAY-1234, ISO-8859-1
    r"|(?i:rfc|bip|iso|nist|cve)[-_]?\d{1,5}"
    r"|(?i:n?(?:var)?char\d{1,4}|(?:bytes?|string|text|blob|u?int|float|binary|u\d)\d{1,3})"
    r"|(?:[A-Za-z]{1,8}\d{1,5}[a-z]{0,2}|\d{1,2}[A-Z]{1,4})"  # 2FA-protected, HS256-signed
    r"-(?:[a-z]{3,12}ed|[a-z]{2,10}(?:ible|able|iant)|only|style|like|safe)"
    r"|[A-Za-z]:\\.*"  # a path, or where a secret is kept
    r"|(?:file|env|vault|ssm|sops|keyring|ref|path):[\w./-]+"
    r"|[a-z_][A-Za-z_]*\d{0,2}(?:\.[a-z][A-Za-z_]*\d{0,2})+"  # an attribute: input1.value
    r"|[a-z_-]{1,20}\d{0,3}(?::[a-z_-]{1,20}\d{0,3}){2,}"  # the name of a key: app:v2:theme
    r"|(?i:\d{1,3}-?(?:digit|char|caract|zeichen|teken|tecken|znak|stell|bit|byte)\w*)"
)
"""What has letters and digits and is no secret where it stands without quotes."""
MADE_UP: Final = re.compile(rf"(?i){FAKE}")
IDENTIFIER: Final = re.compile(r"^[A-Za-z_]+(?:[._][A-Za-z0-9_]+)*$|^[a-z]+(?:-[a-z0-9]+)*$")
LETTER_AND_DIGIT: Final = re.compile(r"(?=.*[A-Za-z])(?=.*\d)")
_WORD_AND_NUMBER: Final = re.compile(r"[A-Za-z]+\d+")
"""A name of a type or of a method: uint64, sha256."""
SHORTEST: Final = 6
"""So many different characters have less entropy than is asked of more."""
_LONG: Final = 20
"""From this length on a value is a generated key rather than a password that a person chose."""
_LEAST_BITS: Final = 2.6
"""The least entropy, in bits a character, of a value that passes for a secret."""


def is_phrase(name: str, value: str) -> bool:
    """Whether a password is made of several words."""
    words = set(value.split("-"))
    named = name[:2].lower() in ("pa", "pw")
    return named and bool(_PHRASE.fullmatch(value)) and words.isdisjoint(_REFERRING)


def is_other(value: str) -> bool:
    """Whether a value without quotes is a ticket, a standard, a type, a path or a name in code."""
    return bool(_OTHER.fullmatch(value))


def is_mixed(value: str) -> bool:
    """Whether a value may be a secret and is neither a word nor the name of something."""
    return (
        (not IDENTIFIER.match(value) or bool(_PHRASE.fullmatch(value)))
        and not value.isalpha()
        and not _TYPE.fullmatch(value)
        and is_secret(value)
    )


def is_secret(value: str) -> bool:
    """Whether a value may be a secret rather than a placeholder, a variable or a word."""
    if PLACEHOLDER.fullmatch(value) or METHOD.fullmatch(value):
        return False
    if "://" in value or len(value) < SHORTEST:
        return False
    if len(value) >= _LONG and MADE_UP.search(value):
        return False
    if len(value) == SHORTEST:
        mixed = LETTER_AND_DIGIT.match(value) and not _WORD_AND_NUMBER.fullmatch(value)
        return bool(mixed) and not QUANTITY.fullmatch(value) and len(set(value)) == SHORTEST
    return _bits(value) >= _LEAST_BITS


def _bits(value: str) -> float:
    """The entropy of the characters of a value."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values())
