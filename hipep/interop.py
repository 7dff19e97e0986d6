"""Device memory in and out: IOBinding, numpy and DLPack."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hipep import _runtime
from hipep.api import find_ep_device, import_onnxruntime, register, settle
from hipep.device import Device
from hipep.errors import HipepError, HipOutOfMemory, OptionError

if TYPE_CHECKING:
    from hipep.inference import InferenceSession

_BFLOAT16 = 16
_DLPACK_CPU, _DLPACK_CUDA, _DLPACK_ROCM = 1, 2, 10
_DLPACK_UINT = 1


def device_value(
    array_or_shape: Any,
    dtype: Any = None,
    device: str | Device | InferenceSession | None = None,
    *,
    host_memory: str | None = None,
) -> Any:
    """Put an array into device memory, or allocate it there.

    An array that is on the device already, such as a tensor of torch, shares its memory with the
    value; work on it that its library has enqueued is waited for.

    Parameters
    ----------
    array_or_shape : array or sequence of int
        An array (numpy, or anything with ``__array__`` or ``__dlpack__``), or a shape.
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
    if _gpu_of(array_or_shape) is not None:
        return _shared(ort, array_or_shape, dtype, _chosen(device, host_memory), entry)
    place: tuple[Any, ...] = ("cpu", 0)
    if entry is not None:
        place = ("gpu", entry.device_id, entry.device_vendor_id)
    shape = _as_shape(array_or_shape)
    if shape is not None:
        wanted = np.dtype(np.float32 if dtype is None else dtype)
        return _empty(ort, shape, wanted, place)
    try:
        array = _as_array(array_or_shape, dtype)
    except TypeError as error:  # a type that numpy lacks, such as the bfloat16 of torch
        return _from_producer(ort, array_or_shape, dtype, place, error)
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
    """Let an output stay on the device, whatever its shape turns out to be in the next run.

    ONNX Runtime keeps what the first run made as the output of the binding: bind the output again
    before a run in which its shape is another.

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
        self._value = value
        self._device = (_DLPACK_CPU, 0) if on_cpu else _dlpack_place(chosen)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the DLPack type and number of the device."""
        return self._device

    def __dlpack__(self, **arguments: Any) -> Any:
        """Return a capsule; the value's memory is shared.

        Raises
        ------
        BufferError
            If a copy or another device is asked for.
        """
        if arguments.get("copy") or arguments.get("dl_device") not in (None, self._device):
            raise BufferError("the value is shared as it is and where it is: copy it afterwards")
        source = self._value if hasattr(self._value, "__dlpack__") else self._value._ortvalue
        capsule = source.__dlpack__(stream=None)
        _set_place(capsule, self._device)
        return capsule


def _dlpack_place(device: Device) -> tuple[int, int]:
    return (_DLPACK_ROCM if device.backend == "amd" else _DLPACK_CUDA, device.ordinal)


class _Tensor(ctypes.Structure):
    """How a DLTensor begins."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_number", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("type_code", ctypes.c_uint8),
    ]


def _tensor_of(capsule: Any) -> _Tensor:
    read = ctypes.pythonapi.PyCapsule_GetPointer
    read.restype, read.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return _Tensor.from_address(read(capsule, b"dltensor"))


def _set_place(capsule: Any, place: tuple[int, int]) -> None:
    tensor = _tensor_of(capsule)
    tensor.device_type, tensor.device_number = place


def _gpu_of(given: Any) -> tuple[int, int] | None:
    """Return the DLPack type and number of the GPU that an array is on."""
    if not hasattr(given, "__dlpack_device__"):
        return None
    kind, number = given.__dlpack_device__()
    return (int(kind), number) if kind in (_DLPACK_CUDA, _DLPACK_ROCM) else None


def _shared(ort: Any, given: Any, dtype: Any, device: Device, entry: Any) -> Any:
    """Return a value of the device that shares memory with an array on it."""
    origin = _gpu_of(given)
    if not device.is_gpu or origin != _dlpack_place(device):
        raise HipepError(
            f"the {type(given).__name__} is on another device than {device.id!r}: move it there, "
            "or to the CPU"
        )
    capsule = _runtime.call_ordered(
        device.backend, device.ordinal, lambda stream: given.__dlpack__(stream=stream)
    )
    # ONNX Runtime takes this type for memory of AMD's vendor id, which hipep's is on every GPU.
    _set_place(capsule, (_DLPACK_ROCM, entry.device_id))
    return _from_capsule(ort, capsule, given, dtype)


def _from_producer(
    ort: Any, given: Any, dtype: Any, place: tuple[Any, ...], error: TypeError
) -> Any:
    """Return a value made from an array that numpy does not take, through DLPack."""
    if not hasattr(given, "__dlpack__"):
        raise error
    value = _from_capsule(ort, given.__dlpack__(), given, dtype)
    return value if place[0] == "cpu" else _copied(ort, value, place)


def _from_capsule(ort: Any, capsule: Any, given: Any, dtype: Any) -> Any:
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    name = type(given).__name__
    dtype_name = str(getattr(given, "dtype", "unknown"))
    try:
        if dtype_name.endswith("bool") and "is_bool_tensor" in state.OrtValue.from_dlpack.__doc__:
            _tensor_of(capsule).type_code = _DLPACK_UINT  # before 1.32 a bool is a byte and a flag
            raw = state.OrtValue.from_dlpack(capsule, True)
        else:
            raw = state.OrtValue.from_dlpack(capsule)
    except RuntimeError as error:
        raise HipepError(f"the {name} cannot be shared ({error}): make it contiguous") from error
    value = ort.OrtValue(raw)
    wanted = None if dtype is None else _empty(ort, (0,), np.dtype(dtype), ("cpu", 0))
    if wanted is not None and wanted.element_type() != value.element_type():
        raise OptionError(f"the {name} is of type {dtype_name}: convert it to {dtype} before")
    return value


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
        reason = _runtime.last_error()
        raise HipOutOfMemory(f"{dtype.name}{list(shape)}: {reason}", requested=size)
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
