"""The API tables of the installed onnxruntime, read and called through ctypes."""

import ctypes
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_uint32, c_void_p
from functools import cache
from pathlib import Path

import onnxruntime

TABLE_VERSION = 22
TABLES_OF_API = {
    "OrtModelEditorApi": 291,
    "OrtCompileApi": 294,
    "OrtEpApi": 317,
    "OrtInteropApi": 395,
}


def _entries(table):
    return ctypes.cast(table, POINTER(c_void_p))


class OrtTables:
    """Tables by name, and calls by slot number."""

    def __init__(self):
        folder = Path(onnxruntime.__file__).parent / "capi"
        self.path = str(next(folder.glob("libonnxruntime.so.*")))
        library = ctypes.CDLL(self.path)
        library.OrtGetApiBase.restype = POINTER(c_void_p)
        base = library.OrtGetApiBase()
        self.version = CFUNCTYPE(c_char_p)(base[1])().decode()
        self._get_api = CFUNCTYPE(c_void_p, c_uint32)(base[0])
        api = self._get_api(TABLE_VERSION)
        self.tables = {"OrtApi": api} | {
            name: CFUNCTYPE(c_void_p)(_entries(api)[slot])() for name, slot in TABLES_OF_API.items()
        }

    @property
    def minor(self):
        return int(self.version.split(".")[1])

    def table_of_version(self, version):
        return self._get_api(version)

    def slot_count(self, name):
        """Entries that point into code, up to the next table."""
        table = self.tables[name]
        count = 0
        while count == 0 or table + 8 * count not in self.tables.values():
            entry = _entries(table)[count] or 0
            if not any(begin <= entry < end for begin, end in self._code()):
                break
            count += 1
        return count

    def _code(self):
        ranges = []
        for line in Path("/proc/self/maps").read_text().splitlines():
            if line.endswith(self.path) and "x" in line.split()[1]:
                begin, end = line.split()[0].split("-")
                ranges.append((int(begin, 16), int(end, 16)))
        return ranges

    def call(self, slot, result, *arguments, table="OrtApi"):
        """Call a slot; arguments are ctypes values, or references to them."""
        values = [
            c_void_p(ctypes.addressof(argument._obj)) if hasattr(argument, "_obj") else argument
            for argument in arguments
        ]
        signature = CFUNCTYPE(result, *map(type, values))
        return signature(_entries(self.tables[table])[slot])(*values)

    def check(self, slot, *arguments, table="OrtApi"):
        """Call a slot that returns a status, which must be success."""
        status = self.call(slot, c_void_p, *arguments, table=table)
        if status:
            text = self.call(2, c_char_p, c_void_p(status)).decode()
            self.call(93, None, c_void_p(status))
            raise RuntimeError(text)

    def make_status(self, code, text):
        return c_void_p(self.call(0, c_void_p, c_int(code), c_char_p(text)))


@cache
def ort_tables():
    return OrtTables()
