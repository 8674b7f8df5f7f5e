"""Where programs keep their settings on this machine."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Folders:
    """The folders that the files of all known clients lie in."""

    here: Path
    """The project."""
    home: Path
    settings: Path
    """Where desktop programs keep theirs: it differs by platform."""
    xdg: Path
    """`~/.config`, which some terminal programs use on every platform."""
    claude: Path
    """Where Claude Code's own file lies."""
    codex: Path

    @classmethod
    def of_this_machine(
        cls, environment: Mapping[str, str] | None = None, platform: str = sys.platform
    ) -> "Folders":
        """Those of the user who runs this."""
        values = os.environ if environment is None else environment
        home = Path.home()
        xdg = Path(values.get("XDG_CONFIG_HOME") or home / ".config")
        if platform == "darwin":
            settings = home / "Library" / "Application Support"
        elif platform == "win32":
            settings = Path(values.get("APPDATA") or home / "AppData" / "Roaming")
        else:
            settings = xdg
        return cls(
            here=Path.cwd(),
            home=home,
            settings=settings,
            xdg=xdg,
            claude=Path(values.get("CLAUDE_CONFIG_DIR") or home),
            codex=Path(values.get("CODEX_HOME") or home / ".codex"),
        )
