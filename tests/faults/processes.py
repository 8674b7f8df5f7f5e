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
    state = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    return state not in "ZX"
