"""The counts of node cases, in the terminal summary."""

import pytest

COUNTS = pytest.StashKey()


def pytest_configure(config):
    config.stash[COUNTS] = {}


@pytest.fixture(scope="session")
def case_counts(request):
    """What test_node_cases counts; shown at the end."""
    return request.config.stash[COUNTS]


def pytest_terminal_summary(terminalreporter, config):
    for line in config.stash.get(COUNTS, {}).values():
        terminalreporter.write_line(line)
