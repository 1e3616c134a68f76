"""Guesses whether a question is English, by its function words; `text.intent` needs to know.

Words that English shares with another language (`me`, `was`, `tips`, `total`) are no evidence
and are in neither table.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from memoriter.core.fold import calm
from memoriter.core.lazy_pattern import lazy_pattern

_READ: Final = 2_000
"""Only so many characters of a text are looked at."""
_WORD: Final = lazy_pattern(r"[^\W\d_]+(?:'[^\W\d_]+)*")


def _table(words: str) -> frozenset[str]:
    return frozenset(words.split())


ENGLISH: Final = _table(
    """
    about advice any anyone anything are been because before being between both but can could count
    did didn't does doesn't doing don't ever every everything favorite favorites favourite
    favourites find from get give got have haven't having here his how how's i'd i'll i'm i've into
    it it's its just know like list make many maybe might more much must my myself need never not
    other our out please prefer preference preferences prefers recommend recommendation
    recommendations remember remind said same see several she should show since some something soon
    still suggest suggestion suggestions tell than that that's the their them there these they thing
    things think this those through told until used very went were what what's when when's where
    where's which while who who's whose why with without would yes you you're your yours
    """
)
"""Words that of these languages only English has."""

DUTCH: Final = """
    aan alleen alles als bij dat deze dit doe doen doet een eens elke en er geef geen goed graag
    haar heb hebben hebt heeft het hij hoe hoeveel iets ik jij jou jouw jullie kunnen kunt maar mij
    mijn moet moeten naar niet nog nu omdat ons onze ook uit vaak veel voor waar waarom wanneer wat
    wel welk welke wij wil willen wordt zal zij zijn zonder zou
"""
GERMAN: Final = """
    aber alle alles auch auf aus bei beim bist bitte das dass dein deine dem der des dich dir doch
    du durch ein eine einem einen einer eines es etwas euch gab gib gibt habe haben habt hast hatte
    ich ihm ihn ihr ihre immer ist kann kannst kein keine kostet mehr mein meine meinem meinen
    meiner mich mir nach nicht noch nur oder schon sehr seine sich sie sind soll sollen sollte und
    uns unser unsere viel viele vom von vor wann warum weil welche welchen welcher welches wem wenn
    wer werden wie wieder wieviel wir wird wo wurde zu zum zur
"""
FRENCH: Final = """
    au aux avec avez avoir avons bien ce cela ces cette chez combien comme dans de depuis donc donne
    du elle elles est et fait faut il ils je la le les leur leurs lui mais mes moi mon nos notre
    nous peut peux pourquoi quand que quel quelle quelles quels qui quoi ses si sont suis sur tes
    toi tu un une vos votre vous
"""
SPANISH: Final = """
    al alguna alguno cada como con cual cuando cuanto cuantos dame de del desde donde el ella ellos
    en entre eres es esa ese eso esta estas este esto estos fue gusta gustan hace hacer hoy la las
    lo los mi mis mucho muy nada nos nosotros nuestra nuestro para pero poco por porque prefiero
    puede puedo que quien quiero se sobre su sus te tengo tiene tienen tienes todos tu tus un una
    unos usted
"""
PORTUGUESE: Final = """
    ao aos da das dela dele ela ele eles em essa esse gosto isso mais meu meus minha minhas muito
    nas onde os ou pela pelo quais qual quando quanto quantos que quem seu sua tem tenho uma umas
    uns
"""
ITALIAN: Final = """
    alla alle allo anche avere che ci cosa cui dal dalla dei della delle dello di dove essere gli ha
    hai hanno il io la le lei lo loro mia mie miei mio molto nel nella non nostra nostro ogni poi
    puoi quale quali quanta quante quanti questa queste questo sei senza si sono sua suo tra tuo
    tutti tutto una voglio
"""
NORDIC: Final = """
    att av blev bliver denne det eller en er et ett hade hade har hun hur hvad hvilken hvor hvordan
    hvorfor ikke inte jag jeg kan mig mina mycket noget nogle och og samt sig skal som til vad
    vilken
"""
SLAVIC: Final = """
    albo czy dla gdy gdzie ile jak jaka jaki jakie jako jest jestem kde kdy kiedy kolik kto moja
    moje nie przez tak tylko
"""
TURKISH: Final = "bir bu gibi ile kadar neden nerede ve"
INDONESIAN: Final = "apa atau berapa dari dengan ini itu saya tidak untuk yang"
OTHERS: Final = _table(
    f"{DUTCH} {GERMAN} {FRENCH} {SPANISH} {PORTUGUESE} {ITALIAN} {NORDIC} {SLAVIC} {TURKISH}"
    f" {INDONESIAN}"
)
"""Words of the other languages that English does not have."""

SHARED: Final = {
    "a": _table(f"{FRENCH} {SPANISH} {PORTUGUESE} {ITALIAN} {SLAVIC}"),
    "for": _table(NORDIC),
    "in": _table(f"{GERMAN} {DUTCH} {ITALIAN}"),
    "is": _table(DUTCH),
    "of": _table(DUTCH),
    "to": _table(SLAVIC),
}
"""English words that other languages have too → the words of those languages. They are evidence of
English in a text that has no word of those languages."""

_ARTICLES: Final = _table("de des du el il la las le les lo los")
"""Before a capital these begin a name, also at the start of a sentence: El Paso, Los Angeles."""
_STARTS: Final = frozenset('.!?:;\n"“„«(¿¡')
"""A sentence starts behind one of these."""


def is_english(text: str) -> bool:
    """Whether a text may be English: it has at least as many English words as foreign ones.

    A word with a letter outside a … z counts as foreign unless it looks like a name (capitalised,
    not the first word), and so does `¿` or `¡`. Names, words in capitals and parts of a domain are
    no evidence of another language. A text without evidence either way passes.

    >>> [is_english(text) for text in ("my favourite café", "coffee tips", "Was kostet das total?")]
    [True, True, False]
    >>> [is_english(text) for text in ("LA office phone", "Is El Paso far?", "Is Acme.io slow?")]
    [True, True, True]
    """
    # Composed, so that é is one letter outside a … z rather than an e and a mark.
    plain = unicodedata.normalize("NFC", calm(text[:_READ])).replace("’", "'")
    words = _WORD.findall(plain)
    if plain.isascii() and OTHERS.isdisjoint(map(str.lower, words)):
        return True  # nothing is foreign
    others = [word for word in _judged_words(plain) if word in OTHERS]
    letters = sum(
        not word.isascii() and not (nth and word[0].isupper()) for nth, word in enumerate(words)
    )
    foreign = len(others) + letters + sum(map(plain.count, "¿¡"))
    english = sum(word.lower() in ENGLISH for word in words)
    if foreign == len(others):  # letters and signs do not tell of which language they are
        shared = (SHARED.get(word.lower()) for word in words)
        english += sum(table is not None and table.isdisjoint(others) for table in shared)
    return english >= foreign


def _judged_words(text: str) -> list[str]:
    """The words of a text in lower case, without those that are written like a name.

    >>> _judged_words("Where is El Paso? Das ist acme.io")
    ['where', 'is', 'das', 'ist']
    """
    shouted = text.isupper()  # then capitals say nothing
    matches = list(_WORD.finditer(text))
    # What stands before each word, and behind the last one.
    ends = [0, *(match.end() for match in matches)]
    starts = [*(match.start() for match in matches), len(text)]
    gaps = [text[end:start] for end, start in zip(ends, starts, strict=True)]
    out: list[str] = []
    for nth, match in enumerate(matches):
        word = match.group()
        after = matches[nth + 1].group() if nth + 1 < len(matches) else ""
        starting = not nth or not _STARTS.isdisjoint(gaps[nth])
        named = word[0].isupper() and (
            not starting
            or (len(word) > 1 and word.isupper())
            or (word.lower() in _ARTICLES and gaps[nth + 1] == " " and after[:1].isupper())
        )
        in_domain = (nth > 0 and gaps[nth] == ".") or (after != "" and gaps[nth + 1] == ".")
        if not in_domain and (shouted or not named):
            out.append(word.lower())
    return out
