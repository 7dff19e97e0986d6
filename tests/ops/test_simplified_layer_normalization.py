"""SimplifiedLayerNormalization, which ONNX Runtime defines."""

import pytest
from helpers import data
from helpers.compare import assert_close
from helpers.models import FLOATS
from helpers.normalizations import layer_norm, model_of

OP = "SimplifiedLayerNormalization"


@pytest.mark.parametrize("outputs", [("y",), ("y", "inverse")])
@pytest.mark.parametrize(("shape", "axis"), [((5, 3, 40), -1), ((5, 3, 33), 1), ((4, 5000), 1)])
@pytest.mark.parametrize("dtype", FLOATS)
def test_every_type(run_strict, dtype, shape, axis, outputs):
    arrays = {"x": data.random(dtype, shape, 1, -4, 4)}
    arrays["scale"] = data.random(dtype, shape[axis:], 2, 0.5, 2)
    model = model_of(OP, arrays, outputs, opset=17, axis=axis, epsilon=1e-3, stash_type=1)
    y, _, inverse = layer_norm(arrays["x"], axis, arrays["scale"], None, 1e-3, centered=False)
    for got, wanted in zip(run_strict(model, arrays), (y, inverse), strict=False):
        assert_close(got, wanted)


@pytest.mark.parametrize("scale", ["float32", "float16"])
def test_the_output_has_the_type_of_the_scale(run_strict, scale):
    arrays = {"x": data.random("float16", (6, 40), 1, -4, 4)}
    arrays["scale"] = data.random(scale, (40,), 2, 0.5, 2)
    actual = run_strict(model_of(OP, arrays, opset=17), arrays)[0]
    expected = layer_norm(arrays["x"], -1, arrays["scale"], centered=False)[0]
    assert actual.dtype == expected.dtype
    assert_close(actual.astype("float16"), expected.astype("float16"))
