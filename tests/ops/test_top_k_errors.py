"""TopK: what does not fit is refused with names and numbers, and harms nothing."""

import numpy as np
import pytest
from helpers import data
from helpers.compare import assert_top_k
from helpers.models import top_k_model
from helpers.strict import device_id

import hipep


def test_axis_outside_of_a_known_rank_is_refused_at_load(refused):
    for axis in (3, -4):
        text = refused(top_k_model("float32", [2, 3, 4], 1, axis=axis))
        assert "'node'" in text
        assert f"axis {axis}" in text
        assert "rank 3" in text


def test_axis_outside_of_an_unknown_rank_is_refused_at_run(refused):
    for axis in (2, -3):
        text = refused(
            top_k_model("float32", None, 1, axis=axis), {"x": np.zeros((2, 2), np.float32)}
        )
        assert "'node'" in text
        assert f"axis {axis}" in text
        assert "rank 2" in text


def test_a_scalar_is_refused(refused):
    assert "'node'" in refused(top_k_model("float32", None, 1), {"x": np.array(3, np.float32)})


@pytest.mark.parametrize("k", [6, -1])
def test_constant_k_outside_of_a_static_extent_is_refused_at_load(refused, k):
    text = refused(top_k_model("float32", [3, 5], k))
    assert "'node'" in text
    assert str(k) in text


@pytest.mark.parametrize("k", [6, -1, 2**40, -(2**63)])
def test_fed_k_outside_of_an_extent_is_refused(refused, k):
    feeds = {"x": np.zeros((3, 5), np.float32), "k": np.array([k])}
    text = refused(top_k_model("float32", ["n", "m"]), feeds)
    assert "'node'" in text
    assert f"K is {k}, but the extent of axis -1 is 5" in text


@pytest.mark.parametrize("k", [6, 2**40])
def test_constant_k_outside_of_a_dynamic_extent_is_refused_at_run(refused, k):
    text = refused(top_k_model("float32", ["n", "m"], k), {"x": np.zeros((3, 5), np.float32)})
    assert "'node'" in text
    assert f"K is {k}, but the extent of axis -1 is 5" in text


def test_one_of_an_empty_row_is_refused(refused):
    text = refused(top_k_model("float32", ["n", "m"], 1), {"x": np.zeros((3, 0), np.float32)})
    assert "K is 1" in text
    assert "is 0" in text


@pytest.mark.parametrize("shape", [[], [2], [0], [1, 1]])
def test_k_of_another_shape_than_one_element(shape):
    model = top_k_model("float32", ["n", "m"])
    feeds = {"x": np.ones((2, 5), np.float32), "k": np.ones(shape, np.int64)}
    with hipep.InferenceSession(model, device=device_id(), strict=True) as session:
        with pytest.raises(Exception, match=r"(?i)rank|dimension|shape|element"):
            session.run(None, feeds)
        feeds["k"] = np.array([2])
        assert_top_k(session.run(None, feeds), feeds["x"], 2)


def test_the_run_after_a_refused_one_is_right(strict_session):
    session = strict_session(top_k_model("float32", ["n", "m"]))
    x = data.random("float32", (3, 40), seed=1)
    for k in (41, -5, 41):
        with pytest.raises(hipep.HipepError):
            session.run_once({"x": x, "k": np.array([k])})
        assert_top_k(session.run({"x": x, "k": np.array([7])}), x, 7)
