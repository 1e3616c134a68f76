"""What the index derives from the texts of new records: words, kin-table tokens, vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from memoriter.core.batch import DERIVED
from memoriter.core.record import Record
from memoriter.core.word_table import WordTable
from memoriter.core.words import Sketch
from memoriter.embed.port import TokenTable
from memoriter.index.log_arrays import NOTHING_DERIVED, Derivation
from memoriter.index.spaces import IndexSpaces
from memoriter.index.texts import texts_by_field, texts_of
from memoriter.store.port import Delta
from memoriter.text.default import DefaultAnalyzer
from memoriter.text.tokenized import TokenAnalyzer


class TextReader:
    """Reads the texts of a tenant's records under the analyzer and the tables of an index."""

    def __init__(
        self, spaces: IndexSpaces, records: Callable[[Sequence[int]], Sequence[Record | None]]
    ) -> None:
        self._spaces = spaces
        self._records = records
        """Reads earlier record versions by row."""

    def words(self, delta: Delta, *, one_by_one: bool) -> WordTable | list[Sketch]:
        """The words of all records: those in the log, else they are analysed now."""
        own = self._spaces.analyzer
        if isinstance(own, DefaultAnalyzer) and not delta.words and not one_by_one:
            return own.word_table(texts_by_field(delta.records, own.fields), len(delta.records))

        def analysed(record: Record) -> Sketch:
            texts = texts_of(record)
            if isinstance(own, TokenAnalyzer):
                return own.sketch(texts)
            return Sketch.of_words(own.analyse(texts))

        sketches = [
            Sketch.of(delta.words[record.row]) if record.row in delta.words else analysed(record)
            for record in delta.records
        ]
        return sketches if one_by_one else WordTable.of(sketches, len(own.fields))

    def tokens(self, delta: Delta) -> TokenTable:
        """The kin-table tokens of every record, computed from its text: cheaper than storing."""
        if self._spaces.kin is None:
            return TokenTable(np.zeros(0, np.uint16), np.zeros(len(delta.records), np.int64))
        return self._spaces.kin.token_table([record.titled for record in delta.records])

    def vectors(self, delta: Delta, tokens: TokenTable) -> Derivation:
        """The vectors that the log only notes; none if nothing here computes them."""
        noted = {vector.row for vector in delta.vectors if vector.body == DERIVED}
        table = self._spaces.deriver
        if table is None or not noted:
            return NOTHING_DERIVED
        places: list[int] = []
        if self._spaces.kin is not None:  # it has cut the same texts into tokens of the same table
            places = [n for n, record in enumerate(delta.records) if record.row in noted]
            noted.difference_update([delta.records[n].row for n in places])
        own = np.array([delta.records[n].row for n in places], np.int64)
        taken = tokens if len(places) == len(delta.records) else tokens.taken(places)
        derived = Derivation.of(own, table.embed_tokens(taken))
        if not noted:
            return derived
        # A vector that was noted later than its record was written has its text further back.
        others = [each for each in self._records(sorted(noted)) if each]
        late = table.embed_tokens(table.token_table([each.titled for each in others]))
        rows = np.array([each.row for each in others], np.int64)
        return derived.followed_by(Derivation.of(rows, late))
