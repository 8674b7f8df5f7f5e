"""The encoder as it is trained: a small BERT whose parts have the names they are stored under."""

from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import Tensor, nn

WIDTH, HEADS, INNER, LAYERS, PIECES, POSITIONS = 384, 12, 1536, 6, 30522, 512
_SMALL = 1e-12


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.norm1 = nn.LayerNorm(WIDTH, eps=_SMALL)
        self.up = nn.Linear(WIDTH, INNER)
        self.down = nn.Linear(INNER, WIDTH)
        self.norm2 = nn.LayerNorm(WIDTH, eps=_SMALL)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        rows, length, _ = x.shape
        parts = self.qkv(x).view(rows, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        q, k, v = parts.unbind(0)
        seen = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = self.norm1(x + self.out(seen.transpose(1, 2).reshape(rows, length, WIDTH)))
        return self.norm2(x + self.down(F.gelu(self.up(x))))


class Encoder(nn.Module):
    """Pieces to a vector of length 1: the mean over a text's pieces."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces = nn.Embedding(PIECES, WIDTH)
        self.positions = nn.Embedding(POSITIONS, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=_SMALL)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        x = self.norm(self.pieces(ids) + self.positions.weight[: ids.shape[1]])
        seen = mask[:, None, None, :].to(torch.bool)
        for layer in self.layers:
            x = layer(x, seen)
        weight = mask[..., None].to(x.dtype)
        return F.normalize((x * weight).sum(1) / weight.sum(1), dim=-1)


def pretrained(folder: Path) -> Encoder:
    """all-MiniLM-L6-v2, from the files of the package that carries it."""
    old = load_file(folder / "model.safetensors")
    new = {
        "pieces.weight": old["embeddings.word_embeddings.weight"],
        "positions.weight": old["embeddings.position_embeddings.weight"]
        + old["embeddings.token_type_embeddings.weight"][0],
        "norm.weight": old["embeddings.LayerNorm.weight"],
        "norm.bias": old["embeddings.LayerNorm.bias"],
    }
    renamed = {
        "out": "attention.output.dense",
        "norm1": "attention.output.LayerNorm",
        "up": "intermediate.dense",
        "down": "output.dense",
        "norm2": "output.LayerNorm",
    }
    for number in range(LAYERS):
        at = f"encoder.layer.{number}."
        for kind in ("weight", "bias"):
            heads = [old[f"{at}attention.self.{name}.{kind}"] for name in ("query", "key", "value")]
            new[f"layers.{number}.qkv.{kind}"] = torch.cat(heads)
            for name, was in renamed.items():
                new[f"layers.{number}.{name}.{kind}"] = old[f"{at}{was}.{kind}"]
    encoder = Encoder()
    encoder.load_state_dict(new)
    return encoder
