"""Lists of stop words, and contractions without their ends. Each docstring says who uses a list."""

from __future__ import annotations

import re
from typing import Final

from memoriter.core.lazy_pattern import lazy_pattern

_APOSTROPHES: Final = "'’ʼ＇"
_ENDS: Final = lazy_pattern(
    rf"(?<=[^\W\d_])(?:n[{_APOSTROPHES}]t|[{_APOSTROPHES}](?:s|d|m|re|ll|ve))(?![\w{_APOSTROPHES}])",
    re.IGNORECASE,
)
_IRREGULAR: Final = lazy_pattern(r"\b(ca|wo|sha)(?=n[" + _APOSTROPHES + r"]t\b)", re.IGNORECASE)
_WHOLE: Final = {"ca": "can", "wo": "will", "sha": "shall"}


def without_contractions(text: str) -> str:
    """A text with the first words of its contractions alone, and owners without their ending.

    What is left are words that a list of stop words has; "don" and "t" would be none.

    >>> without_contractions("Don't we know Anna’s street? I can't find O'Brien's.")
    "Do we know Anna street? I can find O'Brien."
    """
    if not any(each in text for each in _APOSTROPHES):
        return text
    whole = _IRREGULAR.sub(lambda word: _WHOLE[word[0].lower()], text)
    return _ENDS.sub("", whole)


def word_table(words: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(words.split())


ENGLISH_STOPS: Final = word_table(
    """
    a about above across actually after again against all along am among an and any are around at be
    because becoming been before behind being below beside between beyond bit but by can combined
    could detail details did do does doing down during each every find for from get give had has
    have having he her hers him his how i idea ideas if im in information inside into is it items
    its ive keep keeping kind kinds lately like list look looking make making many may me might mine
    must my near need needs no none nor of off on onto or our ours out over past planning please
    really recent recently recommend recommendation recommendations record records regarding
    relationship relationships seen shall she should show so some suggest suggestion suggestions
    sure tell than thanks that the their theirs them these they thinking this those through tip tips
    to tonight toward towards trouble type types under until up upcoming upon us useful was watch we
    were what when where which who whom whose why will with within without would yet you your yours
    """
)
"""English function words and words of questions: for entity names and for dialects."""

LATIN_STOPS: Final = word_table(
    """
    a an the and or but in on at to for of with by from is it as be was are been being have has had
    do does did will would could should may might shall can not no nor so if then than that this
    these those what which who whom how when where why all each every both few more most other some
    such only own same too very just about above after again also am any because before between
    during here into its me my myself our ours out over she he her him his i we they them their you
    your up down
    """
)
"""What `stop = "latin"` drops in the bare dialect; words of other scripts are never dropped."""

RETRY_STOPS: Final = word_table(
    """
    the a an and or but is are was what who when where why how you for from about advice any been
    can choose current decide deciding feeling find getting help helpful idea ideas interesting ive
    look looking make making might need needs noticed planning recent recently recommend
    recommendation recommendations should some soon suggest suggestion suggestions sure thinking
    tips together trying upcoming useful want weekend with would again becoming bit combined having
    items keep keeping kind kinds lately many seen show tonight trouble type types watch have has
    had de het een en of
    """
)
"""Words that `text.retry` never retries with."""

FUNCTION_WORDS: Final = word_table(
    """
    a an the and or but of to in on at by for with from as is are was were be been being am do does
    did done doing have has had having will would shall should can could may might must i you he she
    it we they me him her us them my your his its our their mine yours hers ours theirs this that
    these those there here what which who whom whose when where why how if then than so not no nor
    only own same too very s t d m ll ve re don doesn didn isn aren wasn weren won just now about
    into over under again once all any both each few more most other some such up down out off ever
    get got let please tell im ive id thats whats
    """
)
"""English words that say nothing about what a question asks for (`text.question`)."""

TALK_WORDS: Final = word_table(
    """
    afternoon ahead anything awesome back best better bit bye cheers continue cool course day done
    else evening everything exactly excellent explain fine finished fun go going good goodbye great
    haha happy hello help hey hi hm hmm keep last lgtm long look looks luck maybe mean mind moment
    morning never next nice night nope nothing ok okay one ones perfect proceed ready right second
    slowly something sorry sound sounds stop stuff super sure take takes thank thanks thing things
    think time today true wait way welcome wonder wonderful work wow wrong yeah yep yes yet
    """
)
"""Words of a conversation about itself; a prompt of nothing else asks a memory for nothing."""
