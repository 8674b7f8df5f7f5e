"""The command, except that its first searches wait for their vectors."""

from tests.cold.patience import wait_for_vectors
from tests.cold.thread_switches import switch_threads_often
from tooldrawer.cli import main

if __name__ == "__main__":
    wait_for_vectors()
    switch_threads_often()
    main()
