"""The verbs of the command line program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

app = typer.Typer(
    name="hipep",
    help="ONNX Runtime on AMD GPUs: what runs where, and how fast.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="An .onnx file.")]


@app.callback()
def program() -> None:
    """ONNX Runtime on AMD GPUs: what runs where, and how fast."""


@app.command()
def env(json: Json = False) -> None:
    """Show versions, devices, and why a backend is missing."""
    from hipep.cli.env import show

    raise typer.Exit(show(as_json=json))


@app.command()
def ops(
    json: Json = False,
    md: Annotated[bool, typer.Option("--md", help="Print a Markdown table.")] = False,
) -> None:
    """List the operators that hipep runs."""
    from hipep.cli.ops import show

    show(Console(), as_json=json, as_markdown=md)


@app.command()
def inspect(
    model: Model,
    device: Annotated[str, typer.Option(help="Where the nodes would run.")] = "host",
    placement: Annotated[str, typer.Option(help="all or auto.")] = "all",
    html: Annotated[
        Path | None, typer.Option(help="Write the report as a page to this file.")
    ] = None,
    json: Json = False,
) -> None:
    """Show which node of a model would run where, and why. Needs no GPU."""
    from hipep.cli.inspect import show

    show(model, device=device, placement=placement, html=html, as_json=json)


@app.command()
def run(
    model: Model,
    device: Annotated[str, typer.Option(help="Where to run.")] = "auto",
    input: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=FILE.npy", help="An input from a file; may be repeated."),
    ] = None,
    random: Annotated[bool, typer.Option("--random", help="Make up missing inputs.")] = False,
    seed: Annotated[int, typer.Option(help="For --random.")] = 0,
    dim: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=N", help="Extent of a symbolic axis for --random; else 1."),
    ] = None,
    repeat: Annotated[int, typer.Option(min=1, help="Timed runs, after warm-up.")] = 1,
    strict: Annotated[
        bool, typer.Option("--strict", help="Fail if a node would run on the CPU.")
    ] = False,
    json: Json = False,
) -> None:
    """Run a model; print outputs, placement, statistics and timing."""
    from hipep.cli.run import Request, show

    request = Request(
        model, device, tuple(input or ()), random, seed, tuple(dim or ()), repeat, strict
    )
    show(request, as_json=json)


@app.command()
def bench(
    model: Annotated[
        Path | None, typer.Argument(metavar="[MODEL]", help="An .onnx file; or give --op.")
    ] = None,
    op: Annotated[
        str | None, typer.Option(metavar="NAME", help="Such as top_k; an unknown name lists all.")
    ] = None,
    shape: Annotated[str, typer.Option(help="Of the operator's input.")] = "1x4096",
    k: Annotated[str, typer.Option(help="K of top_k; several between commas.")] = "50",
    widths: Annotated[
        str | None, typer.Option(help="In place of the last extent; several between commas.")
    ] = None,
    dtype: Annotated[str, typer.Option(help="Of the operator's input.")] = "float",
    dim: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=N", help="Extent of a symbolic axis of the model; else 1."),
    ] = None,
    integers_below: Annotated[
        int, typer.Option(min=1, help="Random integers of a model are below it.")
    ] = 2,
    tolerance: Annotated[
        float | None,
        typer.Option(min=0, help="Of floats of a model.", show_default="by type, 1e-3 for float"),
    ] = None,
    devices: Annotated[
        str, typer.Option(help="Of hipep, between commas; ratios are beside the first.")
    ] = "auto",
    peers: Annotated[
        str | None,
        typer.Option(help="Of cpu, cuda, torch; or none.", show_default="all that are installed"),
    ] = None,
    way: Annotated[
        str, typer.Option(help="Of run (numpy), binding (on the device), submit (no wait).")
    ] = "run,binding",
    rounds: Annotated[int, typer.Option(min=2, help="In which each side has its turn.")] = 9,
    seconds: Annotated[float, typer.Option(min=0, help="Of one round of one side.")] = 0.1,
    threads: Annotated[int, typer.Option(min=0, help="On the CPU; 0 for all.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Of the inputs.")] = 0,
    json: Annotated[Path | None, typer.Option(help="Write JSON to this file.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write CSV to this file.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write Markdown to this file.")] = None,
) -> None:
    """Compare devices of hipep with other providers, on a model or an operator."""
    from hipep.cli.bench import Request, show

    show(
        Request(
            model,
            op,
            shape,
            k,
            widths,
            dtype,
            tuple(dim or ()),
            integers_below,
            tolerance,
            devices,
            peers,
            way,
            rounds,
            seconds,
            threads,
            seed,
            json,
            csv,
            markdown,
        )
    )


@app.command()
def selftest(
    device: Annotated[str, typer.Option(help="What to test.")] = "auto",
    op: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="An operator to test; may be repeated. Else all."),
    ] = None,
    json: Json = False,
) -> None:
    """Run every operator on a device beside the host; print a block to paste into a report."""
    from hipep.cli.selftest import show

    raise typer.Exit(show(device, op or (), as_json=json))
