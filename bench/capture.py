"""A coding session of 200 turns captured by the hook, 20 questions about it, and what a call costs.

The session was written by hand for this project (bench/small/session.txt); so were the questions,
before the first run, and nothing was tuned on them. A question is answered if one of the first
hits is a turn of the exchange that has the answer.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import memoriter
from bench.tools import Options
from memoriter.doors.transcripts import conversation_of
from memoriter.text.recalled import tagged_block

SESSION = Path(__file__).parent / "small" / "session.txt"
QUESTIONS = [
    ("On which port does Postgres run for local development?", "5433"),
    ("Why are there no deploys before the weekend?", "March outage"),
    ("Who is responsible for the package with the PDF templates?", "Marta Kowalczyk"),
    ("How do we represent amounts of money in the database?", "integer cents"),
    ("Why did the nightly ledger job crash?", "512 MB"),
    ("Which flag hides the new tax calculation?", "tax-engine-v2"),
    ("How does rounding work on Belgian invoices?", "PER_LINE"),
    ("How do I log in to a staging machine?", "just sh staging"),
    ("Which timeout do we use for payment captures at Adyen?", "p99 is 4.8 s"),
    ("How long are exchange rates cached?", "fx:{date}"),
    ("Which encoding does the DATEV file need?", "CP1252 and semicolons"),
    ("When are archived invoices purged?", "purged after ten years"),
    ("What is the request limit of the public API?", "120 requests"),
    ("When is the oldest API version switched off?", "30 September"),
    ("Which certificate expires on Wednesday?", "BIL-2291"),
    ("Who has to approve legal texts?", "Annika Vogel"),
    ("Which agency translates the reminder mails?", "Lingua Nova"),
    ("How large may the first load of the bundle be?", "400 kB"),
    ("How often are snapshots taken, and how long are they kept?", "35 days"),
    ("Which country will we support next?", "Søren"),
]


def turns() -> list[tuple[str, str]]:
    """(role, text) of every turn of the session."""
    roles = {"U": "user", "A": "assistant"}
    lines = SESSION.read_text(encoding="utf-8").splitlines()
    return [(roles[line[0]], line[3:]) for line in lines]


def transcript(path: Path) -> None:
    """Write the session as Claude Code does, every tenth prompt with a recalled block before it."""
    block = tagged_block("Recalled memories, best first.\n\n[1] learned, 2026-01-01\nBLOCK BLOCK")
    rows: list[dict[str, object]] = []
    for n, (role, text) in enumerate(turns()):
        shown = f"{block}\n{text}" if n % 20 == 0 else text
        at = f"2026-03-02T{9 + n // 60:02d}:{n % 60:02d}:00Z"
        message = {"role": role, "content": shown}
        rows.append({"type": role, "uuid": f"u{n}", "timestamp": at, "message": message})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def capture(memory: memoriter.Memory, folder: Path) -> int:
    """Capture the session; returns how many turns were written."""
    path = folder / "t.jsonl"
    transcript(path)
    payload = {"session_id": "s", "transcript_path": str(path), "hook_event_name": "SessionEnd"}
    heard = conversation_of(payload)
    return len(memory.remember_messages(heard.messages, session=heard.session).ids)


def ranks(memory: memoriter.Memory) -> list[int | None]:
    """The best rank of each question's exchange; None if it is not among ten hits."""
    spoken = [text for _, text in turns()]
    out: list[int | None] = []
    for question, part in QUESTIONS:
        (answer,) = [n for n, text in enumerate(spoken) if part in text]
        wanted = {spoken[answer], spoken[answer - 1]}
        hits = memory.recall(question, 10, now="2026-03-03T09:00:00Z")
        out.append(next((hit.rank for hit in hits if hit.record.text in wanted), None))
    return out


def cpu(*words: str, stdin: str, folder: Path) -> float:
    """The CPU seconds of a command, the least of five runs."""
    costs: list[float] = []
    environ = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(  # noqa: S603  # our own command
            words, input=stdin, cwd=folder, env=environ, stdout=subprocess.DEVNULL,
            encoding="utf-8", check=True,
        )  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        costs.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(costs)


def run(options: Options) -> None:
    del options
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with memoriter.open(folder / "memoriter.db") as memory:
            print(f"turns written: {capture(memory, folder)}, again: {capture(memory, folder)}")
            blocks = sum("BLOCK BLOCK" in each.text for each in memory.browse(limit=1000).records)
            print(f"turns that hold a recalled block: {blocks}")
            found_at = ranks(memory)
            for limit in (1, 3, 10):
                hits = sum(rank is not None and rank <= limit for rank in found_at)
                print(f"hit@{limit}: {hits}/{len(QUESTIONS)}")
            for (question, _), rank in zip(QUESTIONS, found_at, strict=True):
                if rank is None or rank > 3:
                    print(f"  missed (rank {rank}): {question}")
        own = str(Path(sys.executable).with_name("memoriter"))
        prompt = json.dumps({"prompt": "which port for Postgres?"})
        stop = json.dumps({"session_id": "s", "transcript_path": str(folder / "t.jsonl"),
                           "hook_event_name": "Stop"})  # fmt: skip
        peer = cpu(sys.executable, "-c", "import numpy", stdin="", folder=folder)
        for label, verb, given in (("recall", "recall", prompt), ("capture", "capture", stop)):
            cost = cpu(own, "hooks", verb, stdin=given, folder=folder)
            print(f"hooks {label}: {cost:.2f} s CPU, {cost / peer:.1f} times `import numpy`")
