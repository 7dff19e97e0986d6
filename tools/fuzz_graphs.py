"""Compare random graphs with the CPU provider for as long as wanted.

Options of the session come from the environment: HIPEP_HOST_MODE, HIPEP_HOST_MEMORY.
"""

import argparse
import sys
import time
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "runtime")]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to go on")
    parser.add_argument("--seed", type=int, default=0, help="the first graph")
    parser.add_argument("--plan-cache-entries", type=int, help="plans kept per group")
    parser.add_argument("--keep", type=Path, help="a folder for the models that fail")
    arguments = parser.parse_args()

    from random_graphs import RandomGraph
    from test_plan import check_graph

    options = {}
    if arguments.plan_cache_entries is not None:
        options["plan_cache_entries"] = arguments.plan_cache_entries
    seed, failures, end = arguments.seed, 0, time.monotonic() + arguments.seconds
    while time.monotonic() < end:
        try:
            check_graph(seed, **options)
        except Exception as error:
            failures += 1
            print(f"seed {seed}: {type(error).__name__}: {error}", flush=True)
            if arguments.keep is not None:
                arguments.keep.mkdir(parents=True, exist_ok=True)
                (arguments.keep / f"{seed}.onnx").write_bytes(RandomGraph(seed).model())
        seed += 1
    print(f"{seed - arguments.seed} graphs, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
