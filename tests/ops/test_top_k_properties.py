"""TopK against numpy on drawn shapes, types, K and data."""

from helpers.models import NUMBERS
from helpers.top_k_cases import DIMS, K_SOURCES, KINDS, TopKCase
from hypothesis import given
from hypothesis import strategies as st


@st.composite
def cases(draw, max_rank=5, max_extent=40, kinds=KINDS):
    shape = draw(st.lists(st.integers(0, max_extent), min_size=1, max_size=max_rank))
    while len(shape) > 1 and _elements(shape) > 20000:
        shape.pop()
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    return TopKCase(
        dtype=draw(st.sampled_from(NUMBERS)),
        shape=tuple(shape),
        axis=axis,
        k=draw(st.integers(0, shape[axis])),
        largest=draw(st.integers(0, 1)),
        is_sorted=draw(st.integers(0, 1)),
        k_source=draw(st.sampled_from(K_SOURCES)),
        kind=draw(st.sampled_from(kinds)),
        dims=draw(st.sampled_from(DIMS)),
        seed=draw(st.integers(0, 2**32 - 1)),
    )


def _elements(shape):
    count = 1
    for extent in shape:
        count *= max(extent, 1)
    return count


@given(cases())
def test_small_shapes_of_any_rank(case):
    case.check()


@given(cases(max_rank=2, max_extent=5000))
def test_longer_rows(case):
    case.check()


@given(cases(max_rank=3, max_extent=300, kinds=("few distinct", "mostly extreme", "constant")))
def test_ties(case):
    case.check()
