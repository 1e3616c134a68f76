"""The search index of a tenant, derived from its log: segments, and views over them.

A `TenantIndex` (`tenant`) reads the log into segments; `IndexCache` (`cache`) holds the indexes of
a process; a `View` (`view`) is the snapshot at one sequence number that every search reads.

Why a record is hidden from a search:

- **an older version**: an update ends the row of the version before (`TenantIndex._ended`,
  `Segment.end_rows`); a view at `seq` sees a row if `row <= seq < end` (`Segment.seen`);
- **a superseded record**: an edge of a replacing kind points at it, and the recipe hides what is
  superseded: `View.replacing_edges_at` says which records, `selection.select` removes them;
- **a forgotten record**: its rows end at `GONE`, which lies before every view;
- **scope, trust, reflections, archive, expiry, supersession, validity, filter**: decided by
  `selection.select` in that order; `selection.first_exclusion` names the first that hides a row.

Segments are plain arrays (`segment`), merged as they gather (`merge`) and published as files
(`upkeep`, `file`); everything here can be deleted and is built again from the log.
"""
