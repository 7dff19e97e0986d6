from collections.abc import Callable
from typing import TypedDict, TypeVar

Result = TypeVar("Result")

class DeviceEntry(TypedDict):
    id: str
    backend: str
    ordinal: int
    name: str
    arch: str
    memory_bytes: int
    compute_units: int
    warp_size: int
    integrated: bool

def backends() -> dict[str, str]: ...
def devices() -> list[DeviceEntry]: ...
def call_ordered(backend: str, ordinal: int, function: Callable[[int], Result]) -> Result: ...
def last_error() -> str: ...
def skipped_devices() -> dict[str, str]: ...
def kernel_library_path() -> str: ...
