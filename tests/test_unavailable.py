"""Each fault of a local model's endpoint has a message that says what to do."""

from vault_agent.codes import CODES
from vault_agent.models.faults import EndpointFault, Kind
from vault_agent.models.reranker import RERANKER
from vault_agent.models.vectors import EMBEDDING


def test_each_fault_has_a_message():
    for service in (EMBEDDING, RERANKER):
        for kind in Kind:
            error = service.unavailable(EndpointFault(kind), "tiny{model}", "http://127.0.0.1:1")
            assert error.code in CODES
            assert "{section}" not in error.message
            assert error.details == {"reason": kind.name.lower()}
