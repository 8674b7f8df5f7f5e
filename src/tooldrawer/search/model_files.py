"""Read the files of the packaged model, after comparing them with their checksums."""

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files

from tooldrawer.errors import ModelFileChanged

CHECKSUMS = "SHA256SUMS"


def read_model_file(name: str) -> bytes:
    """Return a file's content.

    Raises:
        ModelFileChanged: It is missing, or is not the file that was packaged.
    """
    try:
        content = (files("tooldrawer.search") / "model" / name).read_bytes()
    except OSError as error:
        raise ModelFileChanged(f"The model file {name} cannot be read ({error}).") from error
    if sha256(content).hexdigest() != checksums().get(name):
        raise ModelFileChanged(f"The model file {name} is not the one that was packaged.")
    return content


@cache
def checksums() -> Mapping[str, str]:
    """Return the SHA-256 that each file was packaged with, by its name.

    Raises:
        ModelFileChanged: There is no list of them.
    """
    try:
        listed = (files("tooldrawer.search") / "model" / CHECKSUMS).read_text("ascii")
    except OSError as error:
        raise ModelFileChanged(f"The model file {CHECKSUMS} cannot be read ({error}).") from error
    pairs = (line.split(maxsplit=1) for line in listed.splitlines())
    return {name: digest for digest, name in pairs}
