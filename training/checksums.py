"""Write the checksums of the model's files, which are compared before the files are loaded."""

from hashlib import sha256
from pathlib import Path

from tooldrawer.search.model_files import CHECKSUMS
from training.sets import HERE

MODEL = HERE.parent / "src" / "tooldrawer" / "search" / "model"
_NOT_LOADED = {CHECKSUMS, "NOTICE"}


def write_checksums(folder: Path) -> None:
    """Write the checksum of every file of the model, in the format of `sha256sum`."""
    paths = sorted(path for path in folder.iterdir() if path.name not in _NOT_LOADED)
    lines = (f"{sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in paths)
    (folder / CHECKSUMS).write_text("".join(lines), "ascii")
