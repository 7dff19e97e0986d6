from typing import TypedDict

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
def last_error() -> str: ...
def kernel_library_path() -> str: ...
