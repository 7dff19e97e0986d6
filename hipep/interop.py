"""Device memory in and out: IOBinding, numpy and DLPack."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hipep.api import find_ep_device, import_onnxruntime, register, settle
from hipep.device import Device
from hipep.errors import HipepError, HipOutOfMemory, OptionError

if TYPE_CHECKING:
    from hipep.inference import InferenceSession

_BFLOAT16 = 16
_DLPACK_CPU, _DLPACK_CUDA, _DLPACK_ROCM = 1, 2, 10


def device_value(
    array_or_shape: Any,
    dtype: Any = None,
    device: str | Device | InferenceSession | None = None,
    *,
    host_memory: str | None = None,
) -> Any:
    """Put an array into device memory, or allocate it there.

    Parameters
    ----------
    array_or_shape : array or sequence of int
        An array (numpy, or anything with ``__array__``), or a shape.
    dtype : dtype, optional
        What the array is converted to, or the type to allocate: float32 if omitted.
    device : str, Device, InferenceSession or None
        Where; a session stands for its device.
    host_memory : {"plain", "guarded"}, optional
        Which memory of the host device.

    Returns
    -------
    onnxruntime.OrtValue
        On the host with plain memory it lies in CPU memory and shares it with a given array.

    Examples
    --------
    >>> import hipep, numpy
    >>> value = hipep.device_value(numpy.zeros((2, 3), "float32"), device="host")
    """
    ort = import_onnxruntime()
    entry = _ep_device(ort, device, host_memory)
    place: tuple[Any, ...] = ("cpu", 0)
    if entry is not None:
        place = ("gpu", entry.device_id, entry.device_vendor_id)
    shape = _as_shape(array_or_shape)
    if shape is not None:
        wanted = np.dtype(np.float32 if dtype is None else dtype)
        return _empty(ort, shape, wanted, place)
    array = _as_array(array_or_shape, dtype)
    if array.size == 0:
        return _empty(ort, array.shape, array.dtype, place)
    if array.dtype.name != "bfloat16":
        return ort.OrtValue.ortvalue_from_numpy(array, *place)
    bits = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(array.view(np.uint16), _BFLOAT16)
    return bits if entry is None else _copied(ort, bits, place)


def bind_output(
    io: Any,
    name: str,
    device: str | Device | InferenceSession | None = None,
    *,
    host_memory: str | None = None,
) -> None:
    """Let an output stay on the device, whatever its shape turns out to be.

    Parameters
    ----------
    io : onnxruntime.IOBinding
        The binding, from ``session.io_binding()``.
    name : str
        The output.
    device : str, Device, InferenceSession or None
        Where; a session stands for its device.
    host_memory : {"plain", "guarded"}, optional
        Which memory of the host device.
    """
    ort = import_onnxruntime()
    entry = _ep_device(ort, device, host_memory)
    if entry is None:
        io.bind_output(name, "cpu")
        return
    from onnxruntime.capi import (  # type: ignore[import-untyped]
        onnxruntime_pybind11_state as state,
    )

    # IOBinding.bind_output has no vendor argument, so it cannot name this memory.
    place = state.OrtDevice(
        state.OrtDevice.gpu(),
        state.OrtDevice.default_memory(),
        entry.device_vendor_id,
        entry.device_id,
    )
    io._iobinding.bind_output(name, place)
    bound = getattr(io, "_bound_outputs", None)
    if bound is not None:
        bound[name] = None


def to_numpy(value: Any) -> np.ndarray[Any, Any]:
    """Copy a value to the CPU, bfloat16 included.

    Parameters
    ----------
    value : onnxruntime.OrtValue
        A tensor in CPU or device memory.

    Returns
    -------
    numpy.ndarray
        bfloat16 has the type of ``ml_dtypes``.
    """
    if value.element_type() != _BFLOAT16:
        return np.asarray(value.numpy())
    if value.device_name() != "cpu":
        value = _copied(import_onnxruntime(), value, ("cpu", 0))
    try:
        import ml_dtypes
    except ImportError as error:
        raise HipepError("bfloat16 in numpy needs ml_dtypes: pip install ml_dtypes") from error
    raw = ctypes.string_at(value.data_ptr(), value.tensor_size_in_bytes())
    return np.frombuffer(raw, np.uint16).reshape(value.shape()).view(ml_dtypes.bfloat16)


class dlpack:
    """Offer a value to other libraries through DLPack, under the device it really is on.

    ONNX Runtime says CUDA for every GPU; libraries built for ROCm then refuse the value.

    Parameters
    ----------
    value : onnxruntime.OrtValue
        The value. It must outlive what is made from it.
    device : str, Device, InferenceSession or None
        The device that the value is on.

    Examples
    --------
    >>> import torch, hipep  # doctest: +SKIP
    >>> tensor = torch.from_dlpack(hipep.dlpack(value, "amd:0"))  # doctest: +SKIP
    """

    def __init__(self, value: Any, device: str | Device | InferenceSession | None = None) -> None:
        chosen = _chosen(device)
        on_cpu = value.device_name() == "cpu"
        if not on_cpu and not chosen.is_gpu:
            raise HipepError(
                "guarded host memory cannot be read from outside; copy the value: value.numpy()"
            )
        types = {"amd": _DLPACK_ROCM, "nvidia": _DLPACK_CUDA}
        self._value = value
        self._device = (_DLPACK_CPU, 0) if on_cpu else (types[chosen.backend], chosen.ordinal)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the DLPack type and number of the device."""
        return self._device

    def __dlpack__(self, **arguments: Any) -> Any:
        """Return a capsule; the value's memory is shared."""
        source = self._value if hasattr(self._value, "__dlpack__") else self._value._ortvalue
        capsule = source.__dlpack__(stream=None)
        read = ctypes.pythonapi.PyCapsule_GetPointer
        read.restype, read.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        tensor = read(capsule, b"dltensor")
        # A DLTensor begins with its data pointer, then device type and device number.
        place = ctypes.cast(tensor + ctypes.sizeof(ctypes.c_void_p), ctypes.POINTER(ctypes.c_int32))
        place[0], place[1] = self._device
        return capsule


def _chosen(device: Any, host_memory: str | None = None) -> Device:
    return getattr(device, "device", None) or settle(device, {"host_memory": host_memory}).device


def _ep_device(ort: Any, device: Any, host_memory: str | None) -> Any:
    """Return the memory info of the device, or None where its memory is the CPU's."""
    settings = getattr(device, "_settings", None)
    if settings is None:
        settings = settle(device, {"host_memory": host_memory})
    memory = host_memory or settings.values["host_memory"]
    if not settings.device.is_gpu and memory == "plain":
        return None
    register()
    entry = find_ep_device(ort, settings.device, memory)
    return entry.memory_info(ort.OrtDeviceMemoryType.DEFAULT)


def _empty(ort: Any, shape: Sequence[int], dtype: Any, place: tuple[Any, ...]) -> Any:
    element_type = _BFLOAT16 if dtype.name == "bfloat16" else dtype
    value = ort.OrtValue.ortvalue_from_shape_and_type(list(shape), element_type, *place)
    size = math.prod(shape) * dtype.itemsize
    if size and not value.data_ptr():  # ONNX Runtime hands out a value without memory
        raise HipOutOfMemory(
            f"no room for {size} bytes of {dtype.name}{list(shape)} on the device; close sessions "
            "or release values that are no longer needed",
            requested=size,
        )
    return value


def _copied(ort: Any, value: Any, place: tuple[Any, ...]) -> Any:
    target = ort.OrtValue.ortvalue_from_shape_and_type(
        list(value.shape()), value.element_type(), *place
    )
    ort.copy_tensors([value], [target])
    return target


def _as_shape(given: Any) -> tuple[int, ...] | None:
    if isinstance(given, (int, np.integer)):
        given = (given,)
    if isinstance(given, Sequence) and all(isinstance(n, (int, np.integer)) for n in given):
        if any(extent < 0 for extent in given):
            raise OptionError(f"a shape has no negative extents: {tuple(given)}")
        return tuple(int(extent) for extent in given)
    return None


def _as_array(given: Any, dtype: Any) -> np.ndarray[Any, Any]:
    array = np.asarray(given) if hasattr(given, "__array__") else np.from_dlpack(given)
    return np.asarray(array, dtype=dtype, order="C")
