"""The echo server after a sleep: `python slow.py SECONDS`, run as a file.

It costs nothing while it sleeps, so twenty of them are slow without making the machine slow.
"""

import runpy
import sys
import time

if __name__ == "__main__":
    time.sleep(float(sys.argv[1]))
    runpy.run_module("tooldrawer.bench.peers.echo", run_name="__main__")
