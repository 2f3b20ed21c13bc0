"""Functions, gradients and Hessians of this library beside hand-written NumPy and other systems.

Run it with ``python papers/tensor-calculus/bench.py``; ``--quick`` takes a minute, ``--help`` shows the rest. The files
of ``benchmark/`` do the work.
"""

import sys

from benchmark.command import main
from benchmark.worker import main as work

if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        work(sys.argv[2])
    else:
        sys.exit(main(sys.argv[1:]))
