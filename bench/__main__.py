"""`python -m bench [names …] [--small] [--data PATH]`: each bench prints its own table."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

from bench.tools import Options, header

BENCHES = {
    "import": "bench.imports",
    "deps": "bench.deps",
    "demo": "bench.demo",
    "commit": "bench.commit",
    "ingest": "bench.ingest",
    "versions": "bench.versions",
    "growth": "bench.growth",
    "million": "bench.million",
    "peers": "bench.peers",
    "recall": "bench.recall",
    "beside": "bench.beside",
    "ablation": "bench.ablation",
    "words": "bench.words",
    "meaning": "bench.meaning",
    "kin": "bench.kin",
    "kernel": "bench.kernel",
    "before": "bench.before",
    "proof": "bench.proof",
    "hybrid": "bench.hybrid",
    "quality": "bench.quality",
    "embedders": "bench.embedders",
    "filling": "bench.filling",
    "poison": "bench.poison",
    "hook": "bench.hook",
    "installed": "bench.installed",
    "capture": "bench.capture",
    "similar": "bench.similar",
    "mcp": "bench.mcp",
    "http": "bench.http",
    "hostile": "bench.hostile",
    "postgres": "bench.postgres",
    "defects": "bench.defects",
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(BENCHES))
    parser.add_argument("--small", action="store_true", help="a slice that takes seconds")
    parser.add_argument("--profile", action="store_true", help="also where the time goes")
    parser.add_argument("--records", type=int, action="append", default=[], help="a further size")
    parser.add_argument("--data", type=Path, help="another data set, for `installed` and `peers`")
    parser.add_argument("--before", type=Path, help="another checkout, for `versions` and `before`")
    given = parser.parse_args()
    if unknown := set(given.names) - set(BENCHES):
        parser.error(f"no bench {min(unknown)!r}; there are {', '.join(BENCHES)}")
    print(header(["python -m bench", *sys.argv[1:]]))
    for name in given.names or BENCHES:
        bench = importlib.import_module(BENCHES[name])
        print(f"\n## {name}: {(bench.__doc__ or name).splitlines()[0]}\n", flush=True)
        bench.run(
            Options(given.small, given.profile, tuple(given.records), given.data, given.before)
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
