"""Analyzers whose words are runs of letters and digits in lower case.

porter2   the Porter2 stem of each word; a query also matches the base form of an irregular verb
simple    the word itself
"""

from __future__ import annotations

import re
import threading
import unicodedata
from types import MappingProxyType
from typing import Final

import Stemmer

from memoriter.text.chunk import LONGEST
from memoriter.text.tokenized import FIELDS, TokenAnalyzer, Tokenized, in_sequence

_RULES: Final = 1
"""Version of the rules here and in `text.tokenized`."""
_STEMS_KEPT: Final = 10_000

# Characters that Unicode 17 calls alphabetic although they are neither letters nor numbers (vowel
# signs, points, circled letters), which `\w` lacks. A range may also cover letters in between.
_SIGNS: Final = """
345 363-36f 5b0-5bd 5bf 5c1-5c2 5c4-5c5 5c7 610-61a 64b-657 659-65f 670 6d6-6dc 6e1-6e8 6ed
711-73f 7a6-7b0 816-817 81b-82c 897 8d4-8df 8e3-8e9 8f0-93b 93e-94c 94e-94f 955-963 981-983
9be-9c4 9c7-9c8 9cb-9cc 9d7 9e2-9e3 a01-a03 a3e-a42 a47-a48 a4b-a4c a51 a70-a75 a81-a83 abe-ac5
ac7-ac9 acb-acc ae2-ae3 afa-afc b01-b03 b3e-b44 b47-b48 b4b-b4c b56-b57 b62-b63 b82 bbe-bc2
bc6-bc8 bca-bcc bd7 c00-c04 c3e-c44 c46-c48 c4a-c4c c55-c56 c62-c63 c81-c83 cbe-cc4 cc6-cc8
cca-ccc cd5-cd6 ce2-ce3 cf3 d00-d03 d3e-d44 d46-d48 d4a-d4c d57-d63 d81-d83 dcf-dd4 dd6 dd8-ddf
df2-df3 e31-e3a e4d eb1-eb9 ebb-ebc ecd f71-f83 f8d-f97 f99-fbc 102b-1036 1038 103b-103e 1056-109d
1712-1713 1732-1733 1752-1753 1772-1773 17b6-17c8 1885-18a9 1920-192b 1930-1938 1a17-1a1b
1a55-1a5e 1a61-1a74 1abf-1ac0 1acc-1ace 1b00-1b04 1b35-1b43 1b80-1ba9 1bac-1bad 1be7-1bf1
1c24-1c36 1dd3-1df4 24b6-24e9 2de0-2dff a674-a67b a69e-a69f a802 a80b-a827 a880-a8c3 a8c5
a8ff-a92a a947-a952 a980-a983 a9b4-a9bf a9e5 aa29-aa36 aa43-aa4d aa7b-aabe aaeb-aaef aaf5
abe3-abea fb1e 10376-1037a 10a01-10a03 10a05-10a06 10a0c-10a0f 10d24-10d27 10d69 10eab-10eac
10efa-10efc 11000-11045 11073-11074 11080-110b8 110c2 11100-11132 11145-11146 11180-111bf
111ce-111cf 1122c-11234 11237 1123e-11241 112df-112e8 11300-11303 1133e-11344 11347-11348
1134b-1134c 11357 11362-11363 113b8-113c0 113c2 113c5 113c7-113ca 113cc-113cd 11435-11441
11443-11445 114b0-114c1 115af-115b5 115b8-115be 115dc-115dd 11630-1163e 11640 116ab-116b5
1171d-1172a 1182c-11838 11930-11935 11937-11938 1193b-1193c 11940-11942 119d1-119d7 119da-119df
119e4 11a01-11a0a 11a35-11a3e 11a51-11a97 11b60-11b67 11c2f-11c36 11c38-11c3e 11c92-11ca7
11ca9-11cb6 11d31-11d36 11d3a 11d3c-11d3d 11d3f-11d41 11d43 11d47 11d8a-11d8e 11d90-11d91
11d93-11d96 11ef3-11ef6 11f00-11f03 11f34-11f3a 11f3e-11f40 1611e-1612e 16f4f-16f87 16f8f-16f92
16ff0-16ff1 1bc9e 1e000-1e006 1e008-1e018 1e01b-1e021 1e023-1e024 1e026-1e02a 1e08f 1e6e3-1e6f5
1e947 1f130-1f149 1f150-1f169 1f170-1f189
"""

# Irregular forms of English verbs by base form: no stemmer unites them.
_VERBS: Final = """
arise: arisen arose, awake: awoke awoken, be: been were, bear: bore born borne, beat: beaten,
become: became, befall: befell, begin: begun, bend: bent, bereave: bereft, beseech: besought,
bind: bound, bite: bit bitten, bleed: bled, blow: blew blown, break: broke broken, breed: bred,
bring: brought, build: built, buy: bought, catch: caught, choose: chose chosen, cling: clung,
come: came, deal: dealt, do: did done, draw: drawn drew, drink: drank drunk, drive: driven drove,
dwell: dwelt, eat: ate eaten, fall: fallen fell, feed: fed, feel: felt, find: found, flee: fled,
fling: flung, fly: flew flown, forbid: forbade forbidden, forget: forgot forgotten,
forgive: forgave forgiven, forsake: forsaken forsook, freeze: froze frozen, get: got gotten,
give: gave given, go: gone went, grow: grew grown, have: had has, hear: heard, hide: hid hidden,
hold: held, keep: kept, kneel: knelt, know: knew known, lay: laid, lead: led, leave: left,
lend: lent, lie: lain lay, lose: lost, make: made, mean: meant, meet: met, mislead: misled,
mistake: mistaken mistook, pay: paid, plead: pled, prove: proven, ride: ridden rode,
ring: rang rung, rise: risen rose, run: ran, say: said, see: saw seen, seek: sought, sell: sold,
shake: shaken shook, shine: shone, shrink: shrank shrunk, sing: sang, sit: sat, slay: slain slew,
slide: slid, smell: smelt, sow: sown, speak: spoke spoken, speed: sped, spend: spent, spin: spun,
spring: sprang sprung, stand: stood, stave: stove, steal: stole stolen, stick: stuck,
sting: stung, stink: stunk, strike: stricken struck, string: strung, strive: striven strove,
swear: sworn, sweep: swept, swell: swollen, swim: swam swum, swing: swung, take: taken took,
teach: taught, tear: tore torn, tell: told, think: thought, throw: threw thrown,
understand: understood, wake: woke woken, wear: wore worn, weave: wove woven, weep: wept,
win: won, wind: wound, withdraw: withdrawn withdrew, wring: wrung, write: written wrote
"""

LEMMAS: Final = MappingProxyType(
    {
        form: base.strip()
        for base, forms in (verb.split(":") for verb in _VERBS.split(","))
        for form in forms.split()
    }
)
"""The base of each form, in lower case; for "lay", which is both, it is "lie"."""


def _span(ends: str) -> str:
    return "-".join(chr(int(end, 16)) for end in ends.split("-"))


_RUN: Final = re.compile(f"[\\w{''.join(map(_span, _SIGNS.split()))}]++")
_ASCII: Final = re.compile("[a-z0-9]++")


def runs(text: str) -> list[str]:
    """The runs of letters and digits in lower case, including vowel signs.

    A final sigma is lowered like any other sigma, unlike in `str.lower`.

    >>> runs("BM25-style Search_v1; हिन्दी ΟΔΟΣ")
    ['bm25', 'style', 'search', 'v1', 'हिन', 'दी', 'οδοσ']
    """
    words: list[str]
    if text.isascii():
        words = _ASCII.findall(text.lower())
    else:
        words = _RUN.findall(text.replace("_", " "))
        words = "\n".join(words).replace("Σ", "σ").lower().split("\n") if words else []
    return [word[:LONGEST] for word in words] if len(text) > LONGEST else words


class Simple(TokenAnalyzer):
    """Words in lower case, without stemming."""

    about = "letters and digits in small letters, no stems"

    def __init__(self) -> None:
        shaping = {"rules": _RULES, "letters": unicodedata.unidata_version}
        super().__init__("simple", FIELDS, shaping)

    def tokenize(self, text: str) -> Tokenized:
        """The words of any text."""
        words = runs(text)
        return in_sequence(words, words)


class _Local(threading.local):
    """A stemmer for each thread: it must not be shared."""

    def __init__(self) -> None:
        self.stems = Stemmer.Stemmer("english", _STEMS_KEPT).stemWords


class Porter2(TokenAnalyzer):
    """Stems; a query is also expanded by the bases of irregular verbs.

    The query "went" matches "went" and "go"; the query "go" does not match "went".
    """

    about = "letters and digits, stems, irregular forms"

    def __init__(self) -> None:
        shaping = {
            "rules": _RULES,
            "letters": unicodedata.unidata_version,
            "stemmer": f"english {Stemmer.version()}",
        }
        super().__init__("porter2", FIELDS, shaping)
        self._local = _Local()

    def tokenize(self, text: str) -> Tokenized:
        """The stems of any text."""
        words = runs(text)
        return in_sequence(self._local.stems(words), words)

    def terms(self, text: str) -> list[str]:
        """The distinct stems of a query; the stem of its base follows an irregular verb form."""
        words: list[str] = []
        for word in runs(text):
            words += (word, LEMMAS[word]) if word in LEMMAS else (word,)
        return list(dict.fromkeys(self._local.stems(words)))
