"""What is running on this machine, by a mark in its environment."""

from pathlib import Path

MARK = "TOOLDRAWER_FAULTS"
"""A variable whose value no other test has; whatever a marked process starts has it too."""


def marked(mark: str) -> list[str]:
    """The command lines of all living processes with this mark, each with its process id."""
    wanted = f"{MARK}={mark}".encode()
    found: list[str] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (folder / "environ").read_bytes().split(b"\0") and _runs(folder):
                said = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                found.append(f"{folder.name} {said.strip()}")
        except OSError:  # it has just ended, or is another user's
            continue
    return found


def children(pid: int) -> frozenset[Path]:
    """The folders in /proc of what a process started itself, marked or not."""
    found: set[Path] = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if _stat(folder)[1] == str(pid):
                found.add(folder)
        except OSError:
            continue
    return frozenset(found)


def alive(folder: Path) -> bool:
    """Whether the process of a folder in /proc still runs."""
    try:
        return _runs(folder)
    except OSError:
        return False


def peak(pid: int) -> int:
    """The most memory that a process ever had, in bytes."""
    return _kilobytes(pid, "VmHWM") * 1024


def memory(pid: int) -> int:
    """The memory that a process has now, in bytes."""
    return _kilobytes(pid, "VmRSS") * 1024


def _kilobytes(pid: int, key: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    # A process that has ended and was not waited for yet has none.
    return next((int(line.split()[1]) for line in lines if line.startswith(f"{key}:")), 0)


def _runs(folder: Path) -> bool:
    return _stat(folder)[0] not in "ZX"


def _stat(folder: Path) -> list[str]:
    """State, parent, and all that follows the name, which may hold anything."""
    return (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
