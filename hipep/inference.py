"""The session: ONNX Runtime's own, with hipep added, reported on and closed in time."""

from __future__ import annotations

import logging
import os
import traceback
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hipep import _core, _session
from hipep.api import (
    Settings,
    add_provider,
    import_onnxruntime,
    register,
    set_entry,
    settle,
)
from hipep.device import Device, missing_backends
from hipep.errors import HipepError, NotOnGpu, from_ort, strip_ort_prefix
from hipep.model import ModelSource, explain_load_failure
from hipep.report import PlacementReport, build_report
from hipep.stats import SessionStats

if TYPE_CHECKING:
    import onnxruntime as ort  # type: ignore[import-untyped]
else:
    ort = import_onnxruntime()

logger = logging.getLogger("hipep")

_ASSIGNMENT_ENTRY = "session.record_ep_graph_assignment_info"
# Everything that keeps the session of ONNX Runtime alive.
_SESSION_PARTS = (
    "_sess",
    "_sess_options",
    "_sess_options_initial",
    "_inputs_meta",
    "_outputs_meta",
    "_overridable_initializers",
    "_input_meminfos",
    "_output_meminfos",
    "_input_epdevices",
    "_model_meta",
    "_providers",
    "_provider_options",
    "_profiling_start_time_ns",
    "_model_bytes",
)


class InferenceSession(ort.InferenceSession):  # type: ignore[misc]
    """An ``onnxruntime.InferenceSession`` that runs on a device of hipep.

    Parameters
    ----------
    path_or_bytes : str, os.PathLike or bytes
        The model.
    device : str, Device or None
        An id such as ``"amd:0"`` or ``"host"``. None or ``"auto"``: the first GPU; without one,
        the host, with ``placement="auto"``.
    strict : bool
        Refuse the model (`NotOnGpu`) if a node would run on the CPU.
    placement : {"all", "auto"}, optional
        Whether every node that can run on the device does, or only those that pay for their
        copies. ``"all"`` unless the host was chosen for want of a GPU.
    sess_options : onnxruntime.SessionOptions, optional
        Options to add hipep to.
    **options
        ``host_mode``, ``host_memory``, ``plan_cache_entries``, ``plan_cache_bytes``,
        ``memory_limit``, ``user_compute_stream``, ``graph_capture``, ``debug``; and
        ``disabled_optimizers`` of ONNX Runtime.

    Examples
    --------
    >>> import hipep
    >>> with hipep.InferenceSession("m.onnx", device="host") as session:  # doctest: +SKIP
    ...     outputs = session.run(None, {"x": x})
    ...     print(session.report)
    """

    def __init__(
        self,
        path_or_bytes: str | os.PathLike[str] | bytes,
        device: str | Device | None = None,
        strict: bool | None = None,
        placement: str | None = None,
        sess_options: Any = None,
        **options: Any,
    ) -> None:
        self._closed = False
        disabled_optimizers = options.pop("disabled_optimizers", None)
        self._source = _source_of(path_or_bytes)
        given = {"strict": strict, "placement": placement, **options}
        settings = settle(device, given, sess_options)
        register()
        self._settings = settings
        self._device = settings.device
        token = _session.new_token()
        self._record = _session.record(token)
        self._stats = SessionStats(self._record)
        self._report: PlacementReport | None = None
        self._discard: Callable[[], object] = lambda: None
        if self._record is not None:
            self._discard = weakref.finalize(self, self._record.discard)
            self._discard.atexit = False
        prepared = ort.SessionOptions() if sess_options is None else sess_options
        if _has_providers(prepared):
            set_entry(prepared, _ASSIGNMENT_ENTRY, "1")
        add_provider(ort, prepared, settings, token)
        try:
            # Fallback would make a CPU session in place of the one asked for, with a print.
            super().__init__(
                self._source.argument(),
                prepared,
                enable_fallback=0,
                disabled_optimizers=disabled_optimizers,
            )
        except Exception as error:
            failure = self._load_failure(error)
            # The frames of ONNX Runtime hold the session, and with it device memory.
            traceback.clear_frames(error.__traceback__)
            raise failure from error
        self._log_placement(settings)

    @property
    def device(self) -> Device:
        """The device of this session."""
        return self._device

    @property
    def report(self) -> PlacementReport:
        """Where each node runs, and why."""
        if self._report is None:
            self._report = self._build_report(self._source)
        return self._report

    @property
    def stats(self) -> SessionStats:
        """What the ``last`` run of this thread and all runs (``total``) did on the device."""
        return self._stats

    def close(self) -> None:
        """Free the session and its device memory. Further calls do nothing.

        An IOBinding that is still there keeps the session's memory until it is gone too.
        """
        if self._closed:
            return
        if self._report is None:
            self._report = self._build_report(None)
        self._stats._freeze()
        self._closed = True
        closed = _ClosedSession(self._ensure_open)
        for part in _SESSION_PARTS:
            setattr(self, part, closed)
        self._source.drop()
        record, self._record = self._record, None
        if record is not None:
            record.trim()
        self._discard()

    def __enter__(self) -> InferenceSession:
        """Return the session; it is closed at the end of the block."""
        return self

    def __exit__(self, *details: object) -> None:
        """Close the session."""
        self.close()

    def __repr__(self) -> str:
        """Name the model and the device."""
        state = "closed" if self._closed else f"on {self._device.id}"
        return f"<hipep.InferenceSession {self._source} {state}>"

    def run(self, output_names: Any, input_feed: Any, run_options: Any = None) -> Any:
        """Run the model; see ``onnxruntime.InferenceSession.run``.

        Raises
        ------
        HipError
            If the run failed; there are no outputs then.
        """
        try:
            return super().run(output_names, input_feed, run_options)
        except _ORT_ERRORS as error:
            self._raise_ours(error)
            raise

    def run_with_ort_values(
        self, output_names: Any, input_dict_ort_values: Any, run_options: Any = None
    ) -> Any:
        """Run the model; see ``onnxruntime.InferenceSession.run_with_ort_values``."""
        try:
            return super().run_with_ort_values(output_names, input_dict_ort_values, run_options)
        except _ORT_ERRORS as error:
            self._raise_ours(error)
            raise

    def io_binding(self) -> Any:
        """Make an IOBinding; see ``onnxruntime.InferenceSession.io_binding``."""
        self._ensure_open()
        return super().io_binding()

    def run_with_iobinding(self, iobinding: Any, run_options: Any = None) -> None:
        """Run the model; see ``onnxruntime.InferenceSession.run_with_iobinding``."""
        self._ensure_open()
        raw: Any = self._sess
        if getattr(iobinding, "_session", raw) is not raw:
            raise ValueError("an IOBinding runs with the session whose io_binding() made it")
        try:
            # Not by the base class: with run options it looks for one that is not set, by an
            # exception of 30 us, before each run.
            raw.run_with_iobinding(iobinding._iobinding, run_options)
        except _ORT_ERRORS as error:
            self._raise_ours(error)
            raise

    def set_providers(self, providers: Any = None, provider_options: Any = None) -> None:
        """Refuse: the device of a session is fixed."""
        raise HipepError(
            "the device of a session is fixed: make a new session with another device=, or use "
            "onnxruntime.InferenceSession"
        )

    def _ensure_open(self) -> None:
        if self._closed:
            raise HipepError(f"the session of model {self._source} is closed; make a new one")

    def _raise_ours(self, error: Exception) -> None:
        translated = from_ort(error, self._device.id)
        if translated is not None:
            raise translated from error

    def _load_failure(self, error: Exception) -> HipepError:
        text = strip_ort_prefix(error)
        report = None
        if self._record is not None and self._record.placements:
            report = self._build_report(self._source)
        if report is not None and report.declined and "fallback to CPU EP" in text:
            message = f"model {self._source} needs the CPU: {report.summary(names=True)}"
            return NotOnGpu(message, report=report)
        failure = from_ort(error, self._device.id, f"loading model {self._source}")
        if failure is None:
            failure = HipepError(explain_load_failure(self._source, text))
        failure.report = report
        return failure

    def _build_report(self, source: ModelSource | None) -> PlacementReport:
        record = self._record
        return build_report(
            self._device.id,
            record.placements if record is not None else [],
            record.groups if record is not None else 0,
            _core.EP_NAME,
            source=source,
            assigned=self._assigned(),
            versions={"hipep": _core.EP_VERSION, "onnxruntime": ort.__version__},
        )

    def _assigned(self) -> dict[tuple[str, str], str]:
        try:
            subgraphs = self.get_provider_graph_assignment_info()
        except _NOT_RECORDED:
            # Not recorded, an older onnxruntime, or no session: then the rest is on the CPU.
            return {}
        return {
            (node.name, node.op_type): subgraph.ep_name
            for subgraph in subgraphs
            for node in subgraph.get_nodes()
        }

    def _log_placement(self, settings: Settings) -> None:
        unnoticed = not settings.explicit and not logger.isEnabledFor(logging.INFO)
        if unnoticed or not logger.isEnabledFor(logging.WARNING):
            return
        report = self._build_report(None)
        if not settings.explicit and not self._device.is_gpu:
            reasons = "; ".join(f"{name}: {why}" for name, why in missing_backends().items())
            logger.info("no GPU can be used (%s): %s", reasons, report.summary())
        elif settings.explicit and settings.values["placement"] == "all" and report.declined:
            logger.warning("%s", report.summary())
        else:
            logger.info("%s", report.summary())


class _ClosedSession:
    """Stands for every part of a closed session: each use raises."""

    def __init__(self, refuse: Callable[[], None]) -> None:
        self._refuse = refuse

    def __getattr__(self, name: str) -> Any:
        return self._refuse()

    def __iter__(self) -> Any:
        return self._refuse()

    def __len__(self) -> int:
        self._refuse()
        return 0


def _source_of(path_or_bytes: Any) -> ModelSource:
    try:
        return ModelSource.of(path_or_bytes)
    except TypeError as error:
        raise HipepError(
            f"a model is a path or bytes, not {type(path_or_bytes).__name__}; write an "
            "onnx.ModelProto with .SerializeToString()"
        ) from error


def _has_providers(sess_options: Any) -> bool:
    return bool(getattr(sess_options, "has_providers", lambda: False)())


def _ort_errors() -> tuple[type[Exception], ...]:
    from onnxruntime.capi import (  # type: ignore[import-untyped]
        onnxruntime_pybind11_state as state,
    )

    return tuple(
        kind
        for kind in vars(state).values()
        if isinstance(kind, type) and issubclass(kind, Exception)
    )


_ORT_ERRORS = _ort_errors()
_NOT_RECORDED: tuple[type[Exception], ...] = (AttributeError, RuntimeError, *_ORT_ERRORS)
