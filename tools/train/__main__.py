"""`python -m tools.train OUT`: trains the packaged model on the pairs; docs/model.md says how to set it up.

Each step takes some scenes: every question against all their memories, of which those of its own scene are the hard ones. The loss is a
softmax over memories, a share of the same over questions, and a brake: the cosines among documents that have nothing to do with the pairs must
stay what they were, so that the model does not forget what it knew of them.
"""

from __future__ import annotations

import argparse
import copy
import gzip
import json
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from tools.bench_data import bench_data
from tools.train.measure import ALL, QUICK, first_of_scene, measured
from tools.train.network import Network, by_length, original, vectors
from tools.train.pairs import Scene, scenes
from tools.train.weights import loss_of_rounding, packaged, save

TEMPERATURE = 0.05
PLAIN = {"wordnet", "deb_sent", "deb_par", "topical", "taskmaster", "named_chat"}
"""Sources of the texts of the brake; those of MuSiQue measure, so they are left out."""


def options() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(prog="python -m tools.train", description=__doc__)
    parser.add_argument("out", type=Path, help="the folder of weights to write")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--rate", type=float, default=8e-5)
    parser.add_argument("--scenes", type=int, default=12, help="scenes a step")
    parser.add_argument("--layers", default="0,1,2,3,4,5", help="which layers are kept")
    parser.add_argument("--brake", type=float, default=30.0, help="weight of the cosines of plain texts")
    parser.add_argument("--own", type=float, default=0.0, help="weight of the cosines of the pairs")
    parser.add_argument("--plain", type=int, default=24, help="plain texts a step")
    parser.add_argument("--typos", type=float, default=0.1, help="share of questions that get a slip")
    parser.add_argument("--limit", type=int, default=0, help="train on so many scenes only")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--precise", action="store_true", help="multiply in 32 bits; twice as long")
    parser.add_argument("--quick", action="store_true", help="measure everyday, LoCoMo and pairs-dev alone")
    return parser.parse_args()


def slipped(text: str, rnd: random.Random) -> str:
    """A text with one slip of the keyboard."""
    words = text.split()
    long = [at for at, word in enumerate(words) if len(word) > 3 and word.isalpha()]
    if not long:
        return text
    at = rnd.choice(long)
    word, place = words[at], rnd.randrange(1, len(words[at]) - 1)
    words[at] = rnd.choice(
        (
            word[:place] + word[place + 1 :],
            word[:place] + word[place + 1] + word[place] + word[place + 2 :],
            word[:place] + word[place] + word[place:],
        )
    )
    return " ".join(words)


def plain_texts(seed: int) -> Iterator[str]:
    """The texts of the brake, shuffled, without end."""
    place = bench_data("distil")
    if place is None:
        raise SystemExit("the plain texts of the brake are missing: distil/texts.jsonl.gz")
    with gzip.open(place / "texts.jsonl.gz", "rt", encoding="utf-8") as lines:
        found = [each["text"] for each in map(json.loads, lines) if each["source"] in PLAIN]
    rnd = random.Random(seed)
    while True:
        rnd.shuffle(found)
        yield from found


def batch_loss(
    model: Network, still: Network, part: Sequence[Scene], plain: list[str], use: argparse.Namespace, rnd: random.Random
) -> Tensor:
    """The loss of some scenes."""
    memories: list[str] = []
    questions: list[str] = []
    gold: list[list[int]] = []
    for scene in part:
        for question, places in scene.answerable:
            questions.append(slipped(question, rnd) if rnd.random() < use.typos else question)
            gold.append([len(memories) + place for place in places])
        memories += scene.memories
    records, queries = by_length(model, memories), by_length(model, questions)
    near = queries @ records.T / TEMPERATURE
    right = torch.zeros_like(near)
    for row, places in enumerate(gold):
        right[row, places] = 1
    # Not the log of the sum of the right ones: then one of several answers would do, and the others fall behind.
    loss = -(F.log_softmax(near, 1) * right).sum(1).div(right.sum(1)).mean()
    several = right.sum(0) > 0
    back = F.log_softmax(near.T[several], 1)
    loss = loss - 0.3 * (back * right.T[several]).sum(1).div(right.T[several].sum(1)).mean()
    if plain and use.brake:
        with torch.no_grad():
            before = by_length(still, plain)
        now = by_length(model, plain)
        loss = loss + use.brake * ((now @ now.T - before @ before.T) ** 2).mean()
    if use.own:
        with torch.no_grad():
            before = torch.cat([by_length(still, memories), by_length(still, questions)])
        both = torch.cat([records, queries])
        loss = loss + use.own * ((both @ both.T - before @ before.T) ** 2).mean()
    return loss


def report(model: Network, held: Sequence[Scene], names: Sequence[str], title: str) -> None:
    """Print what a model is worth."""
    print(f"{title}: hit@1 / hit@3 / R@10 / nDCG@10, by its vectors alone", flush=True)

    def embed(texts: Sequence[str]) -> object:
        return vectors(model, texts)

    for each in (*first_of_scene(embed, held), *measured(embed, names)):
        print(f"  {each}", flush=True)


def main() -> None:
    """Train, measure before and after, write the weights."""
    use = options()
    torch.manual_seed(use.seed)
    torch.set_num_threads(use.threads)
    rnd = random.Random(use.seed)
    found = scenes()
    held, taught = [s for s in found if s.held], [s for s in found if not s.held]
    rnd.shuffle(taught)
    if use.limit:
        taught = taught[: use.limit]
    names = QUICK if use.quick else ALL
    state, kept = use.out.with_suffix(".state"), [int(each) for each in use.layers.split(",")]
    still = original()
    model = original(kept)
    optimiser = torch.optim.AdamW(model.parameters(), lr=use.rate, weight_decay=0.01)
    steps = use.epochs * -(-len(taught) // use.scenes)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda at: min(1.0, (at + 1) / (0.1 * steps)) * max(0.0, 1 - at / steps) ** 0.5
    )
    print(f"{len(taught)} scenes to train on, {len(held)} held out, {steps} steps, seed {use.seed}", flush=True)
    first = 0
    if state.exists():  # an earlier run that was stopped goes on
        saved = torch.load(state, weights_only=False)
        model.load_state_dict(saved["model"])
        optimiser.load_state_dict(saved["optimiser"])
        schedule.load_state_dict(saved["schedule"])
        first = saved["epoch"]
        print(f"going on after epoch {first}", flush=True)
    else:
        report(model, held, names if use.limit == 0 else QUICK, "before")
    began, step = time.time(), first * -(-len(taught) // use.scenes)
    for epoch in range(first, use.epochs):
        rnd = random.Random(f"{use.seed} {epoch}")
        plain = plain_texts(use.seed * 1000 + epoch)
        order = taught[:]
        rnd.shuffle(order)
        total = 0.0
        for begin in range(0, len(order), use.scenes):
            model.train()
            some = [next(plain) for _ in range(use.plain)]
            part = order[begin : begin + use.scenes]
            with torch.autocast("cpu", torch.bfloat16, enabled=not use.precise):
                loss = batch_loss(model, still, part, some, use, rnd)
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            step += 1
            total += float(loss.detach())
            if step % 50 == 0:
                print(f"step {step} of {steps}, {time.time() - began:.0f} s", flush=True)
        count = -(-len(order) // use.scenes)
        print(f"epoch {epoch + 1}: loss {total / count:.3f}, {time.time() - began:.0f} s", flush=True)
        torch.save(
            {
                "model": model.state_dict(),
                "optimiser": optimiser.state_dict(),
                "schedule": schedule.state_dict(),
                "epoch": epoch + 1,
            },
            state,
        )
    report(model, held, names, "after")
    if kept == list(range(6)):
        middle = copy.deepcopy(model)
        for share in (0.85, 0.7):
            with torch.no_grad():
                for mine, theirs, out in zip(model.parameters(), still.parameters(), middle.parameters(), strict=True):
                    out.copy_(share * mine + (1 - share) * theirs)
            report(middle, held, names, f"{share:g} of it and the rest of the original")
    weights = packaged(model)
    save(weights, use.out)
    print(f"written: {use.out}; {loss_of_rounding(model, weights, [each for s in held for each in s.memories][:500])}")


if __name__ == "__main__":
    main()
