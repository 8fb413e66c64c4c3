"""An operation runs only if it is enabled and its caller may use it, also over HTTP."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from tests.server.conftest import NOTE_ID, FakeEngine, run

from vault_agent.api import reading
from vault_agent.api.caller import OWNER, CallContext, Caller, CallerKind
from vault_agent.api.operation import Operation, encode, perform
from vault_agent.api.operations import OPERATIONS
from vault_agent.api.reading import NoteRequest
from vault_agent.api.requests import NoParams
from vault_agent.config.setting_names import SETTINGS
from vault_agent.config.settings import Config
from vault_agent.errors import Misconfigured, NotFound
from vault_agent.server import openapi, routes
from vault_agent.server.routes import ROUTES


class Switched:
    """An operation that can be disabled and counts its runs."""

    def __init__(self, needs: str):
        self.runs = 0
        self.operation = Operation(
            self.switched, NoParams, (), "POST", "/switched", writes=True, needs=needs
        )

    async def switched(self, call: CallContext, sent: NoParams) -> str:
        """Run the operation."""
        self.runs += 1
        return f"done for the {call.caller.kind}"


@pytest.mark.fault(
    "HTTP and access",
    "an operation whose switch is off",
    "403 `FEATURE_DISABLED` with the setting",
)
async def test_a_disabled_operation_does_not_run():
    switched = Switched("embedding.enabled")
    with pytest.raises(Misconfigured) as refused:
        await perform(
            switched.operation, CallContext(None, FakeEngine(Config()), OWNER), NoParams()
        )
    assert refused.value.code == "FEATURE_DISABLED"
    assert refused.value.details == {"setting": "embedding.enabled"}
    assert "`vault-agent enable embedding`" in refused.value.message
    assert switched.runs == 0


async def test_an_enabled_operation_runs_for_its_caller():
    switched = Switched("embedding.enabled")
    library = SimpleNamespace(config=SimpleNamespace(embedding=SimpleNamespace(enabled=True)))
    assert (
        await perform(switched.operation, CallContext(None, library, OWNER), NoParams())
        == "done for the owner"
    )
    assert switched.runs == 1


async def test_a_disabled_route_replies_403_and_names_the_setting(
    monkeypatch: pytest.MonkeyPatch,
):
    switched = Switched("embedding.enabled")
    monkeypatch.setattr(routes, "ROUTES", (*ROUTES, switched.operation))
    async with run() as server:
        status, body, _ = await server.ask("POST", "/switched")
        assert (status, body["error"]["code"]) == (403, "FEATURE_DISABLED")
        assert body["error"]["details"]["setting"] == "embedding.enabled"
        assert body["error"]["details"]["requestId"]
    assert switched.runs == 0


def test_openapi_has_the_name_and_summary_of_an_operation(monkeypatch: pytest.MonkeyPatch):
    route = Switched("embedding.enabled").operation
    monkeypatch.setattr(openapi, "ROUTES", (route,))
    described = openapi.describe()["paths"]["/switched"]["post"]
    assert (described["operationId"], described["summary"]) == (
        "switched",
        "Run the operation.",
    )


@pytest.mark.parametrize("caller", [Caller(CallerKind.NAMED_AGENT, "a")])
@pytest.mark.parametrize(
    "operation",
    [each for each in OPERATIONS if not each.for_named_agents],
    ids=lambda each: each.name,
)
async def test_only_the_owner_may_use_operations_that_are_not_for_agents(
    operation: Operation, caller: Caller
):
    with pytest.raises(NotFound) as refused:
        await perform(operation, CallContext(None, FakeEngine(Config()), caller), NoParams())
    assert refused.value.code == "ROUTE_NOT_FOUND"


def test_agents_change_nothing_but_notes():
    writing = {each for each in OPERATIONS if each.for_named_agents and each.writes}
    assert {each.needs for each in writing} == {"write.enabled"}


def test_every_operation_has_a_route_with_its_description():
    assert {each for each in OPERATIONS if each.path} < set(ROUTES)
    assert {each.name for each in OPERATIONS if not each.path} == {"read", "note_search"}
    assert len({each.name for each in ROUTES}) == len(ROUTES)
    for each in OPERATIONS:
        assert each.summary.endswith("."), each.name


def test_every_operation_switch_is_a_setting():
    assert {each.needs for each in OPERATIONS if each.needs} <= set(SETTINGS)


def test_no_get_route_writes():
    for route in ROUTES:
        assert not (route.writes and route.method == "GET"), route.path


async def test_an_operation_runs_without_http():
    call = CallContext(None, FakeEngine(Config()), OWNER)
    found = await perform(reading.note, call, NoteRequest(note_id=NOTE_ID))
    found, body = encode(reading.note, found)
    assert found.etag.startswith("n1-")
    assert found.data.content in body.decode().replace("\\n", "\n")


async def test_query_parameters_are_read_as_booleans_and_numbers():
    assert NoteRequest(note_id=NOTE_ID, allow_large=True).allow_large


async def test_a_path_field_is_not_a_query_parameter():
    async with run() as server:
        status, body, _ = await server.ask("GET", f"/notes/{NOTE_ID}?noteId={NOTE_ID}")
        assert status == 400
        assert body["error"]["message"] == "Unknown field. Known are: path, allowLarge, piece."
        status, body, _ = await server.ask("POST", "/search?query=a", json={"query": "a"})
        assert status == 400
        assert body["error"]["message"] == "This call takes no parameters."
