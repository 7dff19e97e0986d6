from typing import TypedDict

class LoweringRow(TypedDict):
    op_type: str
    domain: str
    since: int
    until: int
    dtypes: list[str]
    note: str
    module: str

def table() -> list[LoweringRow]: ...
