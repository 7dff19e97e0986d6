"""Options: checking, near matches, precedence, and the devices they name."""

import numpy as np
import pytest

from hipep import options
from hipep.errors import OptionError


def test_defaults():
    values = options.resolve({}, {})
    assert values == {
        "device": None,
        "strict": False,
        "placement": "all",
        "host_mode": "serial",
        "host_memory": "plain",
        "plan_cache_entries": 16,
        "plan_cache_bytes": 8388608,
        "memory_limit": 0,
        "user_compute_stream": 0,
        "graph_capture": "auto",
        "debug": False,
    }


def test_argument_goes_before_environment_before_default():
    environment = {"HIPEP_HOST_MODE": "faithful32", "HIPEP_DEBUG": "1"}
    assert options.resolve({}, environment)["host_mode"] == "faithful32"
    assert options.resolve({}, environment)["debug"] is True
    assert options.resolve({"host_mode": "serial"}, environment)["host_mode"] == "serial"
    assert options.resolve({"debug": False}, environment)["debug"] is False
    assert options.resolve({"host_mode": None}, environment)["host_mode"] == "faithful32"


def test_environment_mirrors():
    mirrors = {option.name: option.environment for option in options.OPTIONS if option.environment}
    assert mirrors == {
        "host_mode": "HIPEP_HOST_MODE",
        "host_memory": "HIPEP_HOST_MEMORY",
        "debug": "HIPEP_DEBUG",
    }
    assert set(options.RUNTIME_VARIABLES) == {"HIPEP_HOST_ISA", "HIPEP_HOST_DEVICES"}


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({"devcie": "host"}, "unknown option 'devcie'; did you mean 'device'?"),
        ({"zzz": 1}, "the options are device, strict"),
        ({"providers": ["x"]}, "device= chooses the provider"),
        ({"host_mode": "serail"}, "did you mean 'serial'?"),
        ({"host_mode": "Serial"}, "did you mean 'serial'?"),
        ({"placement": 3}, "placement must be one of all, auto, not 3"),
        ({"plan_cache_entries": 0}, "from 1 to 1024, not 0"),
        ({"plan_cache_entries": 1025}, "from 1 to 1024"),
        ({"plan_cache_entries": 2.5}, "whole number"),
        ({"plan_cache_entries": True}, "whole number"),
        ({"plan_cache_entries": "many"}, "whole number"),
        ({"plan_cache_entries": [1]}, "whole number"),
        ({"memory_limit": -1}, "memory_limit must be a number of bytes"),
        ({"memory_limit": True}, "memory_limit must be a number of bytes"),
        ({"memory_limit": 1.5}, "such as '4GiB'"),
        ({"memory_limit": "4 gigs"}, "not '4 gigs'"),
        ({"memory_limit": "GiB"}, "such as '4GiB'"),
        ({"memory_limit": "99999999999TiB"}, "not '99999999999TiB'"),
        ({"user_compute_stream": -1}, "user_compute_stream must be a whole number"),
        ({"user_compute_stream": "stream"}, "user_compute_stream must be a whole number"),
        ({"strict": "maybe"}, "strict must be true or false"),
        ({"debug": 2}, "debug must be true or false"),
    ],
)
def test_bad_options_are_named(given, part):
    with pytest.raises(OptionError) as caught:
        options.resolve(given, {})
    assert part in str(caught.value)


def test_bad_environment_names_the_variable():
    with pytest.raises(OptionError, match="environment variable HIPEP_HOST_MEMORY"):
        options.resolve({}, {"HIPEP_HOST_MEMORY": "soft"})


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (0, 0),
        (4096, 4096),
        (np.int64(7), 7),
        ("123", 123),
        ("4GiB", 4 * 2**30),
        (" 1.5 gib ", 3 * 2**29),
        ("500 MB", 500_000_000),
        ("64k", 64_000),
        ("2Ti", 2 * 2**40),
        ("10 B", 10),
    ],
)
def test_bytes(value, number):
    assert options.resolve({"memory_limit": value}, {})["memory_limit"] == number


@pytest.mark.parametrize("value", [True, 1, "1", "true", "True", "on", "yes", np.True_])
def test_true(value):
    assert options.resolve({"strict": value}, {})["strict"] is True


@pytest.mark.parametrize("value", [False, 0, "0", "false", "off", "no", np.False_])
def test_false(value):
    assert options.resolve({"strict": value}, {})["strict"] is False


def test_whole_numbers():
    values = options.resolve({"plan_cache_entries": "32", "plan_cache_bytes": np.int64(9)}, {})
    assert (values["plan_cache_entries"], values["plan_cache_bytes"]) == (32, 9)


def test_strings_for_onnxruntime():
    assert options.to_strings({"debug": True, "plan_cache_entries": 16, "host_mode": "serial"}) == {
        "debug": "1",
        "plan_cache_entries": "16",
        "host_mode": "serial",
    }


def test_docs_table_lists_everything():
    table = options.markdown()
    for option in options.OPTIONS:
        assert f"`{option.name}`" in table
    for variable in options.RUNTIME_VARIABLES:
        assert f"`{variable}`" in table


def test_host_device_is_there_and_last():
    import hipep

    found = hipep.devices()
    assert found[-1].backend == "host"
    assert [device.is_gpu for device in found] == sorted(
        (device.is_gpu for device in found), reverse=True
    )
    assert "host" in [device.id for device in found]
    assert "<table>" in found[-1]._repr_html_()


def test_devices_are_selected_by_id():
    from hipep.device import select_device

    host = select_device("host")
    assert select_device("host:0") == host
    assert select_device(host) == host
    assert select_device(None) == select_device("auto")


@pytest.mark.parametrize(
    ("device", "part"),
    [
        ("hosst", "did you mean 'host'?"),
        ("amd:99", "amd:99"),
        ("cuda:0", "this machine has: "),
        (0, "not int"),
    ],
)
def test_unknown_devices_list_what_there_is(device, part):
    from hipep.device import select_device

    with pytest.raises(OptionError) as caught:
        select_device(device)
    assert part in str(caught.value)


def test_missing_backend_says_why():
    from hipep.device import missing_backends, select_device

    for backend, reason in missing_backends().items():
        with pytest.raises(OptionError) as caught:
            select_device(f"{backend}:0")
        assert reason in str(caught.value)


def test_strict_needs_placement_all():
    from hipep.api import settle

    with pytest.raises(OptionError, match="strict=True needs placement='all'"):
        settle("host", {"strict": True, "placement": "auto"})
    assert settle(None, {"strict": True}).values["placement"] == "all"
    assert settle("host", {}).values["placement"] == "all"
    chosen = settle(None, {})
    assert chosen.values["placement"] == ("all" if chosen.device.is_gpu else "auto")
