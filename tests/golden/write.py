"""Writes the arrays anew, after a change that is meant to change them.

Run `python -m tests.golden.write` in the root of the repository, and read the difference: every
byte of it is a prompt cache that somebody loses with the next release.
"""

from tests.golden.catalogs import NAMES, SHAPES, file, written


def main() -> None:
    """Write every file."""
    for name in NAMES:
        for shape in SHAPES:
            file(name, shape).write_bytes(written(name, shape))


if __name__ == "__main__":
    main()
