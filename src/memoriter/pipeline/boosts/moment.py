"""The boost `moment`: records near the time that the question names ("last week") gain."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from memoriter.core.slate import Slate
from memoriter.core.times import iso
from memoriter.index.reads import numbers
from memoriter.lanes.port import Context, Ready, Skipped
from memoriter.pipeline.boosts.port import Boosted, ShareBoost
from memoriter.rank.decay import nearness
from memoriter.text.moments import moment_of


class MomentBoost(ShareBoost):
    """1 inside the span that the question names, 1 / (1 + spans away) outside it."""

    about: ClassVar[str] = "nearness to the time that the question names"

    kind: Literal["moment"]

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Ready if the question names a time."""
        moment = moment_of(ctx.query.text, ctx.query.now)
        if moment is None:
            return Skipped("the question names no time", idle=True)
        span = {"phrase": moment.text, "since": iso(moment.since), "until": iso(moment.until)}
        return Ready({**self.shows(), **span})

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """Each row's nearness."""
        moment = moment_of(ctx.query.text, ctx.query.now)
        if moment is None:
            return Boosted.nothing(slate.rows.size)
        occurred = numbers(ctx.view, slate.rows, "occurred")
        created = numbers(ctx.view, slate.rows, "created")
        absent = np.nan if moment.since > ctx.query.now else created  # as in the lane
        times = np.where(np.isnan(occurred), absent, occurred)
        return Boosted(self.worth(nearness(times, moment.since, moment.until)))
