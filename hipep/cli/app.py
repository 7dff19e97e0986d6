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
