"""`python -m tools.train FOLDER`: trains the packaged model; docs/model.md says how to set it up.

Each step takes some scenes: every question against all their memories, of which those of its own
scene are the hard ones. The loss is a softmax over memories, a share of the same over questions,
and a brake: the cosines among all texts of the step, and some that have nothing to do with the
pairs, shall stay near what they were, so that the model does not forget what it knew.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import log_softmax

from tools.bench_data import bench_data
from tools.train.measure import ALL, QUICK, first_of_scene, measured
from tools.train.network import Network, by_length, original, vectors
from tools.train.pairs import Scene, scenes
from tools.train.weights import loss_of_rounding, packaged, save

TEMPERATURE: Final = 0.05
BACK: Final = 0.3
"""Weight of the softmax over questions."""
SLIPS: Final = 0.1
"""Share of the questions that get a slip of the keyboard."""
PLAIN: Final = {"wordnet", "deb_sent", "deb_par", "topical", "taskmaster", "named_chat"}
"""Sources of the texts of the brake; those of MuSiQue measure, so they are left out."""


def options() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(prog="python -m tools.train")
    parser.add_argument("folder", type=Path, help="where the weights are written")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--rate", type=float, default=6e-5)
    parser.add_argument("--scenes", type=int, default=12, help="scenes a step")
    parser.add_argument("--layers", default="0,1,2,3,4,5", help="the layers that are kept")
    parser.add_argument("--brake", type=float, default=30.0, help="weight of the brake")
    parser.add_argument("--plain", type=int, default=24, help="texts of the brake a step")
    parser.add_argument("--limit", type=int, help="train on so many scenes only")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--precise", action="store_true", help="32 bits; takes twice as long")
    parser.add_argument("--mean", type=Path, nargs="+", help="folders of runs to take the mean of")
    parser.add_argument("--quick", action="store_true", help="measure the smaller sets alone")
    return parser.parse_args()


def slipped(text: str, rnd: random.Random) -> str:
    """A text with one slip of the keyboard: a letter lost, doubled, or two in the wrong order."""
    words = text.split()
    long = [at for at, word in enumerate(words) if len(word) > 3 and word.isalpha()]
    if not long:
        return text
    at = rnd.choice(long)
    word, place = words[at], rnd.randrange(1, len(words[at]) - 1)
    before, here, behind = word[:place], word[place], word[place + 1 :]
    words[at] = before + rnd.choice((behind, here + here + behind, behind[0] + here + behind[1:]))
    return " ".join(words)


def plain_texts(seed: int) -> Iterator[str]:
    """The texts of the brake, shuffled, without end."""
    place = bench_data("distil")
    if place is None:
        raise SystemExit("the texts of the brake are missing: distil/texts.jsonl.gz")
    with gzip.open(place / "texts.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [each["text"] for each in map(json.loads, lines) if each["source"] in PLAIN]
    rnd = random.Random(seed)
    while True:
        rnd.shuffle(texts)
        yield from texts


class Step(NamedTuple):
    """What a step reads: texts, and by question the places of the memories that answer it."""

    memories: list[str]
    questions: list[str]
    gold: list[list[int]]

    @classmethod
    def of(cls, part: Sequence[Scene], rnd: random.Random) -> Step:
        """The texts of some scenes; some questions get a slip."""
        step = cls([], [], [])
        for scene in part:
            for question, places in scene.taught:
                slips = rnd.random() < SLIPS
                step.questions.append(slipped(question, rnd) if slips else question)
                step.gold.append([len(step.memories) + place for place in places])
            step.memories.extend(scene.memories)
        return step


def answer_loss(memories: Tensor, questions: Tensor, gold: Sequence[Sequence[int]]) -> Tensor:
    """How far questions are from the memories that answer them."""
    near = questions @ memories.T / TEMPERATURE
    right = torch.zeros_like(near)
    for row, places in enumerate(gold):
        right[row, places] = 1
    asked = right.sum(0) > 0
    return _spread(near, right) + BACK * _spread(near.T[asked], right.T[asked])


def _spread(near: Tensor, right: Tensor) -> Tensor:
    """Cross-entropy to all right ones alike: none of several answers may fall behind."""
    return -(log_softmax(near, 1) * right).sum(1).div(right.sum(1)).mean()


class Original:
    """The vectors of the model that training began with; those of a text are computed once."""

    def __init__(self) -> None:
        self._model = original()
        self._known: dict[str, Tensor] = {}

    @torch.no_grad()
    def vectors(self, texts: Sequence[str]) -> Tensor:
        """The vectors of some texts."""
        fresh = [text for text in dict.fromkeys(texts) if text not in self._known]
        if fresh:
            self._known.update(zip(fresh, by_length(self._model, fresh), strict=True))
        return torch.stack([self._known[text] for text in texts])


def brake(now: Tensor, before: Tensor) -> Tensor:
    """How much the cosines among texts have changed."""
    return ((now @ now.T - before @ before.T) ** 2).mean()


def report(model: Network, held: Sequence[Scene], names: Sequence[str], title: str) -> None:
    """Print what a model is worth."""
    print(f"{title}: hit@1 / hit@3 / R@10 / nDCG@10, by its vectors alone", flush=True)

    def embed(texts: Sequence[str]) -> np.ndarray:
        return vectors(model, texts)

    for each in (*first_of_scene(embed, held), *measured(embed, names)):
        print(f"  {each}", flush=True)


class Training:
    """A model on its way, which can be stopped after any epoch and goes on from there."""

    def __init__(self, use: argparse.Namespace, taught: list[Scene]) -> None:
        self.use, self.taught = use, taught
        self.each = -(-len(taught) // use.scenes)
        """Steps of an epoch."""
        self.original = Original()
        self.model = original([int(each) for each in use.layers.split(",")])
        self.optimiser = torch.optim.AdamW(self.model.parameters(), lr=use.rate, weight_decay=0.01)
        steps = use.epochs * self.each
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimiser,
            lambda at: min(1.0, (at + 1) / (0.1 * steps)) * max(0.0, 1 - at / steps) ** 0.5,
        )
        self.epoch = 0
        self._file = use.folder.with_suffix(".state")
        self._parts = {"model": self.model, "optimiser": self.optimiser, "schedule": self.schedule}

    def resume(self) -> bool:
        """Take up what an earlier run left; False if there is none."""
        if not self._file.exists():
            return False
        saved = torch.load(self._file, weights_only=False)
        for name, part in self._parts.items():
            part.load_state_dict(saved[name])
        self.epoch = saved["epoch"]
        return True

    def run_epoch(self) -> None:
        """Train on every scene once."""
        use, began, total = self.use, time.time(), 0.0
        rnd = random.Random(f"{use.seed} {self.epoch}")
        plain, order = plain_texts(use.seed * 1000 + self.epoch), self.taught[:]
        rnd.shuffle(order)
        self.model.train()
        for step in range(self.each):
            read = Step.of(order[step * use.scenes : (step + 1) * use.scenes], rnd)
            others = [next(plain) for _ in range(use.plain)]
            texts = [*read.memories, *read.questions, *others]
            with torch.autocast("cpu", torch.bfloat16, enabled=not use.precise):
                parts = [by_length(self.model, some) for some in (*read[:2], others)]
                loss = answer_loss(parts[0], parts[1], read.gold)
                slowed = brake(torch.cat(parts), self.original.vectors(texts))
                loss = loss + use.brake * slowed
            self.optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimiser.step()
            self.schedule.step()
            total += float(loss.detach())
            if step % 50 == 49:
                spent = time.time() - began
                print(f"  step {step + 1} of {self.each}, {spent:.0f} s", flush=True)
        self.epoch += 1
        spent = time.time() - began
        print(f"epoch {self.epoch}: loss {total / self.each:.3f}, {spent:.0f} s", flush=True)
        torch.save(
            {name: part.state_dict() for name, part in self._parts.items()} | {"epoch": self.epoch},
            self._file,
        )


def main() -> None:
    """Train, measure before and after, write the weights."""
    use = options()
    torch.manual_seed(use.seed)
    torch.set_num_threads(use.threads)
    every, names = scenes(), QUICK if use.quick else ALL
    held, taught = [s for s in every if s.held], [s for s in every if not s.held]
    model = mean_of(use.mean) if use.mean else trained(use, taught, held, names)
    report(model, held, names, "after")
    weights = packaged(model)
    save(weights, use.folder)
    some = [memory for scene in held for memory in scene.memories][:500]
    print(f"written: {use.folder}; {loss_of_rounding(model, weights, some)}")


def mean_of(folders: Sequence[Path]) -> Network:
    """The mean of the weights of some runs, which is better than each of them."""
    states = [torch.load(each.with_suffix(".state"), weights_only=False) for each in folders]
    models = [state["model"] for state in states]
    out = original()
    out.load_state_dict({name: sum(m[name] for m in models) / len(models) for name in models[0]})
    return out


def trained(
    use: argparse.Namespace, taught: list[Scene], held: Sequence[Scene], names: Sequence[str]
) -> Network:
    """Train a model, or go on with it."""
    random.Random(use.seed).shuffle(taught)
    training = Training(use, taught[: use.limit])
    print(f"{len(training.taught)} scenes to train on, {len(held)} held out", flush=True)
    if training.resume():
        print(f"going on after epoch {training.epoch}", flush=True)
    else:
        report(training.model, held, names, "before")
    while training.epoch < use.epochs:
        training.run_epoch()
    return training.model


if __name__ == "__main__":
    main()
