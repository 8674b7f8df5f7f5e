"""Installs what the tests run and nobody here wrote: MCP servers and the conformance suite.

`make servers` calls it with the folder to fill. It needs a registry of Python packages; what runs
on Node needs npm too, and is left out with a sentence where there is none.
"""

import shutil
import subprocess
import sys
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath

HERE = Path(__file__).parent
EXAMPLE = "mcp_everything_server"
"""The server that the SDK keeps for the conformance suite: in its source archive, in no wheel."""


def main() -> None:
    folder = Path(sys.argv[1]).resolve()
    folder.mkdir(exist_ok=True)
    with ThreadPoolExecutor() as pool:
        done = [
            pool.submit(python, folder / name, HERE / f"{name}.txt") for name in ("mcp1", "mcp2")
        ]
        done.append(pool.submit(node, folder / "npm"))
        for each in done:
            each.result()
    example(folder / "example", python_of=folder / "mcp2")


def run(*command: str | Path, cwd: Path | None = None) -> None:
    """Run a command, silently unless it fails."""
    done = subprocess.run(
        command, cwd=cwd, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode != 0:
        words = " ".join(map(str, command))
        sys.exit(f"{done.stdout}\nThe servers for the tests were not installed: `{words}` failed.")


def python(folder: Path, requirements: Path) -> None:
    """Make an environment with these requirements, pip among them."""
    uv = shutil.which("uv")
    interpreter = folder / "bin" / "python"
    if uv is None:
        run(sys.executable, "-m", "venv", "--clear", folder)
        run(interpreter, "-m", "pip", "install", "--requirement", requirements)
    else:
        run(uv, "venv", "--clear", "--seed", "--python", sys.executable, folder)
        run(uv, "pip", "install", "--python", interpreter, "--requirement", requirements)


def node(folder: Path) -> None:
    """Install what package-lock.json says, a Node of its own included."""
    npm = shutil.which("npm")
    if npm is None:
        sys.stderr.write(
            "There is no npm here: the tests of MCP servers that run on Node, and of conformance, "
            "will be skipped.\n"
        )
        return
    folder.mkdir(exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, folder)
    run(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", cwd=folder)


def example(folder: Path, *, python_of: Path) -> None:
    """Take the example server out of the SDK's source archive, of the version installed."""
    lines = (HERE / "mcp2.txt").read_text(encoding="utf-8").splitlines()
    release = next(line for line in lines if line.startswith("mcp=="))
    pip = (python_of / "bin" / "python", "-m", "pip")
    shutil.rmtree(folder, ignore_errors=True)
    run(*pip, "download", "--no-deps", "--no-binary", "mcp", "--dest", folder, release)
    with tarfile.open(next(folder.glob("mcp-*.tar.gz"))) as archive:
        for member in archive:
            path = PurePosixPath(member.name)
            content = archive.extractfile(member) if path.parent.name == EXAMPLE else None
            if content is not None:
                target = folder / EXAMPLE / path.name
                target.parent.mkdir(exist_ok=True)
                target.write_bytes(content.read())


if __name__ == "__main__":
    main()
