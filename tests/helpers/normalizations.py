"""What ONNX says that normalisations compute: in float64, rounded once."""

import numpy as np
from helpers.models import node_model


def attribute(value):
    """The value that an attribute of a node holds."""
    return float(np.float32(value))


def normalized(x, axes, epsilon, centered=True):
    """The normalised input, the mean and the inverse deviation, in float64."""
    x = x.astype(np.float64)
    with np.errstate(all="ignore"):
        count = np.sum(np.ones_like(x), axis=axes, keepdims=True)
        mean = np.sum(x, axis=axes, keepdims=True) / count if centered else 0.0
        square = np.sum((x - mean) ** 2, axis=axes, keepdims=True) / count
        inverse = 1 / np.sqrt(square + attribute(epsilon))
        return (x - mean) * inverse, mean, inverse


def layer_norm(x, axis, scale, bias=None, epsilon=1e-5, centered=True, stash="float32"):
    """The output, the mean and the inverse deviation."""
    axes = tuple(range(axis % x.ndim, x.ndim))
    y, mean, inverse = normalized(x, axes, epsilon, centered)
    y = y * scale.astype(np.float64)
    y = y if bias is None else y + bias.astype(np.float64)
    stash = np.dtype(stash) if isinstance(stash, str) else stash
    return y.astype(scale.dtype), np.asarray(mean).astype(stash), inverse.astype(stash)


def group_norm(x, groups, scale, bias, epsilon=1e-5):
    """Scale and bias have an element for each channel."""
    rows = x.reshape(x.shape[0], groups, -1)
    y = normalized(rows, (2,), epsilon)[0].reshape(x.shape)
    return (y * per_channel(scale, x) + per_channel(bias, x)).astype(x.dtype)


def batch_norm(x, scale, bias, mean, variance, epsilon=1e-5):
    scale, bias, mean, variance = (per_channel(a, x) for a in (scale, bias, mean, variance))
    with np.errstate(all="ignore"):
        inverse = 1 / np.sqrt(variance + attribute(epsilon))
        return ((x.astype(np.float64) - mean) * inverse * scale + bias).astype(x.dtype)


def per_channel(values, x):
    """An element for each channel, in float64, to broadcast with x."""
    return values.astype(np.float64).reshape((-1,) + (1,) * max(0, x.ndim - 2))


def mean_variance(x, axes):
    wide = x.astype(np.float64)
    centered = wide - wide.mean(axis=axes, keepdims=True)
    deviation = np.sqrt((centered**2).mean(axis=axes, keepdims=True))
    return (centered / (deviation + 1e-9)).astype(x.dtype)


def lp_norm(x, axis, p):
    wide = x.astype(np.float64)
    with np.errstate(all="ignore"):
        norm = np.sum(np.abs(wide) ** p, axis=axis, keepdims=True) ** (1 / p)
        return np.where(norm == 0, 0, wide / norm).astype(x.dtype)


def local_response(x, size, alpha=1e-4, beta=0.75, bias=1.0):
    alpha, beta, bias = map(attribute, (alpha, beta, bias))
    wide = x.astype(np.float64)
    sums = np.zeros_like(wide)
    before = (size - 1) // 2
    channels = x.shape[1]
    for channel in range(channels):
        first, last = max(0, channel - before), min(channels, channel + size - before)
        sums[:, channel] = (wide[:, first:last] ** 2).sum(axis=1)
    with np.errstate(all="ignore"):
        return (wide / (bias + alpha / size * sums) ** beta).astype(x.dtype)


def model_of(op_type, arrays, outputs=("y",), opset=24, shapes=None, **attributes):
    """A model of one node that is fed with all its inputs; a None among them is absent."""
    inputs = {
        name: (array.dtype, shapes.get(name) if shapes is not None else [None] * array.ndim)
        for name, array in arrays.items()
    }
    return node_model(op_type, inputs, outputs, opset=opset, **attributes)
