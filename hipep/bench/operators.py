"""The operators that ``hipep bench --op`` knows: one entry each."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence

from hipep.bench.case import Case
from hipep.bench.elementary import add_cases, reduce_sum_cases
from hipep.bench.parameters import Parameters
from hipep.bench.top_k import top_k_cases
from hipep.errors import OptionError

# Each takes the parameters of the command line and returns cases, or raises OptionError.
OPERATORS: dict[str, Callable[[Parameters], Sequence[Case]]] = {
    "add": add_cases,
    "reduce_sum": reduce_sum_cases,
    "top_k": top_k_cases,
}


def operator_cases(name: str, parameters: Parameters) -> Sequence[Case]:
    """Return the cases of an operator.

    Raises
    ------
    OptionError
        If there is no such operator, or parameters do not fit it.
    """
    if name not in OPERATORS:
        near = difflib.get_close_matches(name, OPERATORS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(OPERATORS)}"
        raise OptionError(f"--op: {name!r} is no operator that can be measured; {hint}")
    return OPERATORS[name](parameters)
