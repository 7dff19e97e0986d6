"""Fixtures that tests of operators share."""

import os

import pytest
from hypothesis import settings

settings.register_profile("local", max_examples=60, deadline=None)
settings.register_profile("ci", parent=settings.get_profile("local"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


@pytest.fixture(scope="session", autouse=True)
def elsewhere(tmp_path_factory):
    """Leave the root of the repository: programs that tests start would import the sources."""
    os.chdir(tmp_path_factory.mktemp("elsewhere"))


@pytest.fixture
def strict_session():
    """Make a StrictSession of a model; it is closed after the test."""
    from helpers.strict import StrictSession

    opened = []

    def make(model, **options):
        opened.append(StrictSession(model, **options))
        return opened[-1]

    yield make
    for session in opened:
        session.session.close()


@pytest.fixture
def run_strict(strict_session):
    """Run a model on the tested device twice, strictly; return the outputs."""

    def run(model, feeds):
        return strict_session(model).run(feeds)

    return run


@pytest.fixture
def refused():
    """Load a model, run it if feeds are given, and return the text of the error."""
    from helpers.strict import device_id

    import hipep

    def load_and_run(model, feeds):
        with hipep.InferenceSession(model, device=device_id(), strict=True) as session:
            assert feeds is not None, "the model was loaded"
            session.run(None, feeds)

    def text(model, feeds=None):
        with pytest.raises(hipep.HipepError) as caught:
            load_and_run(model, feeds)
        return str(caught.value)

    return text
