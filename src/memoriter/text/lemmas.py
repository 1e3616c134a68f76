"""Irregular forms of English verbs, each with its base: what no stemmer brings together."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

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
"""The base of each form, all in lower case; of "lay", which is both, the base is "lie"."""
