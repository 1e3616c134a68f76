"""Lanes: each finds and ranks rows by one signal.

One file per kind of lane (`bm25`, `kin`, `vector`, `walk`, `hops`, `cheapest`, `entity`, `moment`,
`sources`, `list`, `by`); the other files are machinery that they share. `port` defines what a lane
is, `pipeline/kinds.py` lists all of them, `pipeline/run.py` calls them.

BM25: the formula is `rank/bm25.py`; `bm25_score` applies it to posting lists; `maxscore` picks the
best rows; `bm25` is the lane.
"""
