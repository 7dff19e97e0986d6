"""Registration, unregistration and the end of the process, each in a process of its own."""

import pytest
from programs import IMPORT, PREAMBLE, run_program

SESSION = (
    'session = hipep.InferenceSession(top_k_model(), device="host", strict=True)\nrun(session)\n'
)


def test_registering_twice():
    run_program("hipep.register(); hipep.register()\n" + SESSION)


def test_registering_the_path_twice_is_refused_and_harmless():
    run_program(
        """
        hipep.register()
        try:
            ort.register_execution_provider_library(hipep.get_ep_name(), hipep.get_library_path())
        except Exception as error:
            assert "already registered" in str(error)
        else:
            raise SystemExit("it was accepted")
        session = hipep.InferenceSession(top_k_model(), device="host")
        run(session)
        """
    )


def test_another_name_beside_the_own():
    run_program(
        f"""
hipep.register()
ort.register_execution_provider_library("other", hipep.get_library_path())
{SESSION}
ort.unregister_execution_provider_library("other")
run(session)
"""
    )


def test_other_code_registered_before():
    out, _ = run_program(
        """
        ort.register_execution_provider_library(hipep.get_ep_name(), hipep.get_library_path())
        hipep.register()
        gpus = [device for device in hipep.devices() if device.is_gpu]
        try:
            session = hipep.InferenceSession(top_k_model(), device="host")
        except hipep.HipepError as error:
            print(error)
        """
    )
    assert "call hipep.register() before it" in out


FIND_LIBRARY = """
import importlib.util, pathlib
package = pathlib.Path(importlib.util.find_spec("hipep").origin).parent
library = str(next(package.glob("_core.*.so")))
assert "hipep._core" not in sys.modules
"""


def test_library_that_was_never_imported():
    """Plain onnxruntime: no host device, so that no policy runs models on an emulated GPU."""
    run_program(
        FIND_LIBRARY
        + """
ort.register_execution_provider_library("HipExecutionProvider", library)
listed = [d for d in ort.get_ep_devices() if d.ep_name == "HipExecutionProvider"]
assert not [d for d in listed if d.ep_metadata["hipep.device"].startswith("host")]
policies = ort.OrtExecutionProviderDevicePolicy
chosen = [policies.DEFAULT, policies.PREFER_CPU]
if not listed:
    chosen += [policies.PREFER_GPU, policies.MAX_PERFORMANCE]
for policy in chosen:
    options = ort.SessionOptions()
    options.set_provider_selection_policy(policy)
    session = ort.InferenceSession(top_k_model(), options)
    assert "HipExecutionProvider" not in session.get_providers(), policy
    run(session)
del session
ort.unregister_execution_provider_library("HipExecutionProvider")
""",
        preamble=PREAMBLE,
    )


def test_wrong_path():
    run_program(
        """
        for path in ("/nowhere/hipep.so", ort.__file__):
            try:
                ort.register_execution_provider_library("wrong", path)
            except Exception as error:
                assert path in str(error)
            else:
                raise SystemExit("it was accepted")
        session = hipep.InferenceSession(top_k_model(), device="host")
        run(session)
        """
    )


UNREGISTER = "ort.unregister_execution_provider_library(hipep.get_ep_name())\n"
ENDINGS = {
    "session alive": "",
    "unregistered with a live session": UNREGISTER + "run(session)\n",
    "unregistered after the session": "del session\n" + UNREGISTER,
    "registered again": UNREGISTER
    + "import hipep.api; hipep.api._registered = False; hipep.register()\n"
    + SESSION,
    "value alive": 'value = hipep.device_value(X, device="host")\n',
    "value outlives session": """
value = hipep.device_value(X, device="host")
binding = session.io_binding()
binding.bind_ortvalue_input("x", value)
hipep.bind_output(binding, "v", session)
hipep.bind_output(binding, "i", session)
session.run_with_iobinding(binding)
outputs = binding.get_outputs()
session.close()
del session
""",
    "module dropped": """
for name in [name for name in sys.modules if name.split(".")[0] == "hipep"]:
    del sys.modules[name]
del hipep
run(session)
""",
    "run at exit": "import atexit\natexit.register(run, session)\n",
    "created at exit": """
import atexit
def create():
    run(hipep.InferenceSession(top_k_model(), device="host"))
atexit.register(create)
""",
    "in a cycle": "cycle = [session]\ncycle.append(cycle)\ndel session, cycle\n",
}


@pytest.mark.parametrize("ending", list(ENDINGS))
def test_end_of_the_process(ending):
    out, _ = run_program(SESSION + ENDINGS[ending] + "print('done')\n")
    assert out == "done\n"


def test_daemon_thread_inside_a_run_at_exit():
    """The run outlasts the process: onnxruntime itself aborts where one returns after the end."""
    run_program(
        """
        session = hipep.InferenceSession(top_k_model(1_000_000), device="host")
        big = np.random.default_rng(0).random((8, 2_000_000), "float32")
        thread = threading.Thread(target=session.run, args=(None, {"x": big}), daemon=True)
        thread.start()
        time.sleep(0.1)
        assert thread.is_alive()
        """
    )


def test_fork():
    """A child either runs, or is told why not; it never hangs or crashes."""
    out, _ = run_program(
        SESSION
        + """
import warnings
warnings.simplefilter("ignore")
child = os.fork()
if child == 0:
    code = 1
    try:
        run(session)
        run(hipep.InferenceSession(top_k_model(), device="host"))
        code = 0
    except hipep.HipepError as error:
        print(error, flush=True)
        code = 0
    finally:
        os._exit(code)
for _ in range(300):
    pid, status = os.waitpid(child, os.WNOHANG)
    if pid:
        break
    time.sleep(0.1)
else:
    os.kill(child, 9)
    raise SystemExit("the child hangs")
assert os.waitstatus_to_exitcode(status) == 0, status
run(session)
print("done")
"""
    )
    assert out.splitlines()[-1] == "done"


def test_two_devices_in_one_session():
    out, _ = run_program(
        """
        hipep.register()
        listed = [d for d in ort.get_ep_devices() if d.ep_name == hipep.get_ep_name()]
        options = ort.SessionOptions()
        try:
            options.add_provider_for_devices(listed[-2:], {})
            ort.InferenceSession(top_k_model(), options)
        except Exception as error:
            print(error)
        """
    )
    assert "a session runs on one hipep device, 2 were given" in out


@pytest.mark.parametrize("memory", ["plain", "guarded"])
def test_two_host_devices(memory):
    run_program(
        f"""
        assert [d.id for d in hipep.devices() if not d.is_gpu] == ["host", "host:1"]
        memory = {memory!r}
        make = lambda device: hipep.InferenceSession(
            top_k_model(), device=device, host_memory=memory, strict=True)
        sessions = [make("host"), make("host:1"), make("host")]
        assert [s.report.coverage for s in sessions] == [
            "1/1 nodes on host", "1/1 nodes on host:1", "1/1 nodes on host"]
        value = hipep.device_value(X, device="host:1", host_memory=memory)
        for _ in range(20):
            for session in sessions:
                run(session)
            binding = sessions[1].io_binding()
            binding.bind_ortvalue_input("x", value)
            for name in "vi":
                hipep.bind_output(binding, name, sessions[1])
            sessions[1].run_with_iobinding(binding)
            found = hipep.to_numpy(binding.get_outputs()[0])
            assert found.tolist() == [[5, 4], [9, 8]], found
        sessions[0].close()
        run(sessions[1])
        run(sessions[2])
        """,
        HIPEP_HOST_DEVICES="2",
    )


def test_value_of_another_device():
    """A value bound on host:1 is copied, or refused by name: never read as it is."""
    run_program(
        """
        session = hipep.InferenceSession(
            top_k_model(), device="host", host_memory="guarded", strict=True)
        value = hipep.device_value(X, device="host:1", host_memory="guarded")
        binding = session.io_binding()
        binding.bind_ortvalue_input("x", value)
        binding.bind_output("v", "cpu")
        binding.bind_output("i", "cpu")
        try:
            session.run_with_iobinding(binding)
            assert binding.get_outputs()[0].numpy().tolist() == [[5, 4], [9, 8]]
        except Exception as error:
            print(error)
        """,
        HIPEP_HOST_DEVICES="2",
    )


def test_importing_starts_nothing():
    out, _ = run_program(
        'print("onnxruntime" in sys.modules, "hipep._core" in sys.modules)',
        preamble="import sys\n" + IMPORT,
    )
    assert out == "False False\n"
