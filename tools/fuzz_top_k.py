#!/usr/bin/env python3
"""Run random TopK models against numpy for a while; stop at the first difference.

Usage: fuzz_top_k.py [--seconds 60] [--seed N] [--case SEED]

The environment chooses what is tested: HIPEP_HOST_MODE, HIPEP_HOST_MEMORY, HIPEP_HOST_ISA.
A difference ends the run with status 1 and the seed of its model, for --case.
"""

import argparse
import sys
import time
import traceback
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parent.parent / "tests")]

from helpers.models import NUMBERS  # noqa: E402
from helpers.strict import host_mode  # noqa: E402
from helpers.top_k_cases import DIMS, K_SOURCES, KINDS, TopKCase  # noqa: E402

MOST_ELEMENTS = 300_000 if host_mode() == "serial" else 20_000
LENGTHS = (1, 2, 31, 32, 33, 64, 255, 256, 257, 1023, 1024, 1025, 2048, 4096, 4097)


def length(generator, most):
    """An extent: near a power of two, small, or anywhere up to the most, in equal parts."""
    kind = generator.integers(3)
    if kind == 0:
        return int(min(generator.choice(LENGTHS), most))
    if kind == 1:
        return int(generator.integers(0, min(most, 40) + 1))
    return int(np.exp(generator.uniform(0, np.log(max(most, 1)))))


def random_case(seed, most):
    """The case that belongs to a seed."""
    generator = np.random.default_rng(seed)
    rank = int(generator.choice([1, 2, 2, 2, 3, 3, 4, 8]))
    axis = int(generator.integers(-rank, rank))
    extent = length(generator, most)
    shape, left = [1] * rank, most // max(extent, 1)
    for position in range(rank):
        if position != axis % rank:
            shape[position] = length(generator, min(left, 600))
            left //= max(shape[position], 1)
    shape[axis] = extent
    k = int(generator.choice([min(1, extent), extent, length(generator, extent), extent // 2]))
    return TopKCase(
        dtype=str(generator.choice(NUMBERS)),
        shape=tuple(shape),
        axis=axis,
        k=min(k, extent),
        largest=int(generator.integers(2)),
        is_sorted=int(generator.integers(4) > 0),
        k_source=str(generator.choice(K_SOURCES)),
        kind=str(generator.choice(KINDS)),
        dims=str(generator.choice(DIMS)),
        seed=seed,
    )


def endless(seed):
    """Seeds of cases without end."""
    generator = np.random.default_rng(seed)
    while True:
        yield int(generator.integers(2**32))


def main():
    """Return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None, help="of the whole run")
    parser.add_argument("--case", type=int, default=None, help="run the model of this seed only")
    parser.add_argument("--most", type=int, default=MOST_ELEMENTS, help="elements")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else int(time.time())
    seeds = [options.case] if options.case is not None else endless(seed)
    end, count = time.monotonic() + options.seconds, 0
    for case_seed in seeds:
        case = random_case(case_seed, options.most)
        try:
            case.check()
        except Exception:
            traceback.print_exc()
            print(f"{case}\nreproduce with: {sys.argv[0]} --case {case_seed} --most {options.most}")
            return 1
        count += 1
        if time.monotonic() > end:
            break
    print(f"{count} models, seed {seed}: all equal to numpy")
    return 0


if __name__ == "__main__":
    sys.exit(main())
