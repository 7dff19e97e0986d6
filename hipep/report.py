"""Which node runs where, and why."""

from __future__ import annotations

import html
import platform
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from string import Template
from typing import Any

from hipep.model import ModelSource, vanished_nodes

_NAMES_SHOWN = 16
_CPU = "CPUExecutionProvider"


@dataclass(frozen=True)
class PlacedNode:
    """One node as placement saw it.

    Attributes
    ----------
    name, op_type, domain : str
        As in the model.
    since_version : int
        The opset in which the operator's definition appeared.
    graph : str
        Empty for the main graph, else a path such as ``"if_node/then_branch"``.
    ep : str
        The execution provider that runs it.
    group : int
        The number of its fused group, or -1.
    reason : str
        Why it does not run on the device; empty if it does.
    """

    name: str
    op_type: str
    domain: str
    since_version: int
    graph: str
    ep: str
    group: int
    reason: str


@dataclass(frozen=True)
class Declined:
    """The nodes of one operator that stay elsewhere.

    Attributes
    ----------
    op_type : str
        The operator.
    count : int
        How many nodes.
    reason : str
        The reason of the first.
    names : list of str
        At most 16 node names.
    ep : str
        The provider that runs the first.
    """

    op_type: str
    count: int
    reason: str
    names: list[str]
    ep: str

    def __str__(self) -> str:
        """Return one line."""
        return f"{self.op_type} x {self.count} ({self.reason})"


def aggregate(nodes: Iterable[PlacedNode]) -> list[Declined]:
    """Group the nodes that are not on the device by operator, the most frequent first."""
    by_op: dict[str, list[PlacedNode]] = {}
    for node in nodes:
        if node.reason:
            by_op.setdefault(_qualified(node.domain, node.op_type), []).append(node)
    declined = [
        Declined(
            op_type,
            len(members),
            members[0].reason,
            [node.name or "(unnamed)" for node in members[:_NAMES_SHOWN]],
            members[0].ep,
        )
        for op_type, members in by_op.items()
    ]
    return sorted(declined, key=lambda entry: -entry.count)


@dataclass(frozen=True)
class PlacementReport:
    """Where each node of a session runs.

    Attributes
    ----------
    device : str
        The device of the session.
    nodes : list of PlacedNode
        Every node that ONNX Runtime asked about, nested graphs included.
    folded : list of tuple or None
        Name and operator of the nodes of the model that ONNX Runtime folded, fused or inlined
        before placement; None where the model could not be read (``onnx`` is not installed).
    groups : int
        Fused groups on the device.
    model : str
        The path of the model, or empty for bytes.
    model_sha256 : str
        The hash of the model file.
    versions : dict
        Versions of hipep, onnxruntime and Python.
    """

    device: str
    nodes: list[PlacedNode]
    folded: list[tuple[str, str]] | None = None
    groups: int = 0
    model: str = ""
    model_sha256: str = ""
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def on_device(self) -> int:
        """How many nodes run on the device."""
        return sum(not node.reason for node in self.nodes)

    @property
    def coverage(self) -> str:
        """One line: ``"355/366 nodes on amd:0"``."""
        return f"{self.on_device}/{len(self.nodes)} nodes on {self.device}"

    @property
    def declined(self) -> list[Declined]:
        """The operators that stay elsewhere, with count, first reason and names."""
        return aggregate(self.nodes)

    def summary(self, names: bool = False) -> str:
        """Return one line with counts, and operators and reasons of the rest.

        Parameters
        ----------
        names : bool
            Also name nodes.

        Returns
        -------
        str
        """
        total, here = len(self.nodes), self.on_device
        if here == total:
            return f"all {total} nodes on {self.device}"
        shown = self.declined
        listed = ", ".join(
            f"{entry} [{', '.join(entry.names)}]" if names else str(entry)
            for entry in shown[:_NAMES_SHOWN]
        )
        if len(shown) > _NAMES_SHOWN:
            listed += f", and {len(shown) - _NAMES_SHOWN} more operators"
        elsewhere = {entry.ep for entry in shown}
        where = "the CPU" if elsewhere == {_CPU} else "other providers"
        return f"{here} of {total} nodes on {self.device}; {total - here} on {where}: {listed}"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dictionaries and lists, ready for JSON."""
        return {
            "device": self.device,
            "coverage": self.coverage,
            "on_device": self.on_device,
            "count": len(self.nodes),
            "groups": self.groups,
            "declined": [asdict(entry) for entry in self.declined],
            "folded": None if self.folded is None else [list(entry) for entry in self.folded],
            "nodes": [asdict(node) for node in self.nodes],
            "model": self.model,
            "model_sha256": self.model_sha256,
            "versions": dict(self.versions),
        }

    def to_text(self, limit: int | None = None) -> str:
        """Return plain text.

        Parameters
        ----------
        limit : int, optional
            The most nodes to list one by one; all of them if omitted.

        Returns
        -------
        str
        """
        lines = [f"{self.coverage} in {self.groups} groups"]
        if self.model:
            lines.append(f"model: {self.model}")
        if self.model_sha256:
            lines.append(f"sha256: {self.model_sha256}")
        if self.versions:
            lines.append(", ".join(f"{name} {text}" for name, text in self.versions.items()))
        if self.declined:
            rows = [
                (entry.op_type, str(entry.count), entry.reason, ", ".join(entry.names))
                for entry in self.declined
            ]
            lines += ["", *_table(("not on the device", "count", "reason", "nodes"), rows)]
        if self.folded:
            lines += ["", f"gone before placement (folded, fused, inlined): {self._folded()}"]
        if self.nodes:
            lines += ["", *_table(_NODE_HEADER, map(_node_row, self.nodes[:limit]))]
        hidden = len(self.nodes) - len(self.nodes[:limit])
        if hidden:
            lines.append(f"... and {hidden} more nodes: to_text() lists all")
        return "\n".join(lines)

    def to_html(self) -> str:
        """Return one page without external parts."""
        declined = [
            (entry.op_type, entry.count, entry.reason, ", ".join(entry.names))
            for entry in self.declined
        ]
        return _PAGE.substitute(
            title=html.escape(self.coverage),
            facts=_html_table(("", ""), self._facts()),
            declined=_html_table(("operator", "count", "reason", "nodes"), declined)
            if declined
            else "<p>None.</p>",
            folded=html.escape(self._folded()),
            nodes=_html_table(_NODE_HEADER, map(_node_row, self.nodes)),
        )

    def _facts(self) -> list[tuple[str, str]]:
        facts = [("groups", str(self.groups)), ("model", self.model or "given as bytes")]
        if self.model_sha256:
            facts.append(("sha256", self.model_sha256))
        return facts + list(self.versions.items())

    def _folded(self) -> str:
        if self.folded is None:
            return "not known"
        counts = Counter(op_type for _, op_type in self.folded)
        return ", ".join(f"{op} x {count}" for op, count in counts.most_common()) or "none"

    def __str__(self) -> str:
        """Return plain text with the first 50 nodes."""
        return self.to_text(limit=50)

    def __repr__(self) -> str:
        """Return the coverage."""
        return f"<PlacementReport {self.coverage}>"

    def _repr_html_(self) -> str:
        return self.to_html()


def build_report(
    device: str,
    placements: Sequence[tuple[str, str, str, int, str, bool, int, str]],
    groups: int,
    ep_name: str,
    *,
    source: ModelSource | None = None,
    assigned: dict[tuple[str, str], str] | None = None,
    versions: dict[str, str] | None = None,
) -> PlacementReport:
    """Make a report from what the provider recorded.

    Parameters
    ----------
    device : str
    placements : sequence of tuple
        As in ``SessionRecord.placements``.
    groups : int
    ep_name : str
        The name of hipep's provider.
    source : ModelSource, optional
        The model, to list what was folded.
    assigned : dict, optional
        Providers by pair of node name and operator, where others than the CPU take part.
    versions : dict, optional

    Returns
    -------
    PlacementReport
    """
    others = assigned or {}
    nodes = [
        PlacedNode(
            name,
            op_type,
            domain,
            since_version,
            graph,
            ep_name if claimed else others.get((name, op_type), _CPU),
            group,
            "" if claimed else reason or "no reason recorded",
        )
        for name, op_type, domain, since_version, graph, claimed, group, reason in placements
    ]
    folded = None
    if source is not None:
        placed = Counter((node.name, node.op_type) for node in nodes)
        claimed_paths = {
            f"{node.graph}/{node.name}" if node.graph else node.name
            for node in nodes
            if not node.reason
        }
        folded = vanished_nodes(source, placed, claimed_paths)
    return PlacementReport(
        device=device,
        nodes=nodes,
        folded=folded,
        groups=groups,
        model=(source.path or "") if source is not None else "",
        model_sha256=source.sha256() if source is not None else "",
        versions={**(versions or {}), "python": platform.python_version()},
    )


_NODE_HEADER = ("node", "operator", "graph", "provider", "group", "reason")


def _node_row(node: PlacedNode) -> tuple[str, ...]:
    return (
        node.name or "(unnamed)",
        _qualified(node.domain, node.op_type),
        node.graph,
        node.ep,
        "" if node.group < 0 else str(node.group),
        node.reason,
    )


def _qualified(domain: str, op_type: str) -> str:
    return op_type if domain in ("", "ai.onnx") else f"{domain}.{op_type}"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    cells = [list(header), *(list(row) for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    cells.insert(1, ["-" * width for width in widths])
    return [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]


def _html_table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    head = "".join(f"<th>{html.escape(text)}</th>" for text in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


_PAGE = Template("""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>hipep: $title</title><style>
.hipep { font: 14px/1.4 system-ui, sans-serif; }
.hipep table { border-collapse: collapse; }
.hipep th, .hipep td { border: 1px solid #ccc; padding: 2px 8px; text-align: left; }
</style></head><body><div class="hipep">
<h1>$title</h1>$facts
<h2>Not on the device</h2>$declined
<h2>Gone before placement: folded, fused or inlined by ONNX Runtime</h2><p>$folded</p>
<h2>Nodes</h2>$nodes
</div></body></html>
""")
