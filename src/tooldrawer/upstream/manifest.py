"""What a server listed the last time, on disk: its tools can be found before it runs."""

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import cast

from platformdirs import user_cache_path

from tooldrawer.tool import Json, JsonObject
from tooldrawer.upstream.spec import UpstreamSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What is known of a server without asking it."""

    tools: Sequence[Json] = ()
    """As it listed them, usable or not."""
    instructions: str = ""
    capabilities: JsonObject = field(default_factory=dict[str, Json])
    protocol: str = ""
    asks: bool = False
    """Whether its questions need its clients to take turns."""


class Manifests:
    """One file for each way to reach a server. What cannot be read or written is not there."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or user_cache_path("tooldrawer", appauthor=False) / "manifests"

    def load(self, spec: UpstreamSpec) -> Manifest | None:
        """What was saved for this server; blocks for a file."""
        try:
            found = cast("Json", json.loads(self._file(spec).read_bytes()))
        except (OSError, ValueError, RecursionError):
            return None
        return _manifest(found) if isinstance(found, dict) else None

    def save(self, spec: UpstreamSpec, manifest: Manifest) -> None:
        """Replace what was saved, for this user's eyes only; blocks for a file."""
        text = json.dumps(
            {
                "tools": manifest.tools,
                "instructions": manifest.instructions,
                "capabilities": manifest.capabilities,
                "protocol": manifest.protocol,
                "asks": manifest.asks,
            }
        )
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            # Made with mode 0600, and complete before it gets its name.
            with NamedTemporaryFile(
                "w", dir=self._folder, suffix=".new", delete=False, encoding="utf-8"
            ) as file:
                file.write(text)
            try:
                Path(file.name).replace(self._file(spec))
            except OSError:
                Path(file.name).unlink(missing_ok=True)

    def _file(self, spec: UpstreamSpec) -> Path:
        # Another key or address may give other tools. All of it goes through one hash, so that the
        # name of the file tells nobody a secret.
        reach = (
            spec.command,
            spec.args,
            sorted(spec.env.items()),
            os.fspath(spec.cwd),
            spec.url,
            sorted(spec.headers.items()),
        )
        digest = blake2b(json.dumps(reach).encode(), digest_size=16, person=b"manifest")
        return self._folder / f"{digest.hexdigest()}.json"


def _manifest(found: JsonObject) -> Manifest | None:
    tools, able = found.get("tools"), found.get("capabilities")
    if not isinstance(tools, list) or not isinstance(able, dict):
        return None
    return Manifest(
        tools=tools,
        instructions=str(found.get("instructions") or ""),
        capabilities=able,
        protocol=str(found.get("protocol") or ""),
        asks=found.get("asks") is True,
    )
