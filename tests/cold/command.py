"""The command, except that its first searches wait for their vectors."""

from tests.cold.patience import wait_for_vectors
from tooldrawer.cli import main

if __name__ == "__main__":
    wait_for_vectors()
    main()
