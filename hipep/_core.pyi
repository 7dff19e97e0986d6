EP_NAME: str
EP_VERSION: str
MINIMUM_ORT: tuple[int, int]

def set_host_enumeration(enabled: bool) -> None: ...
