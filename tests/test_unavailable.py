"""Each fault of a local model's endpoint has a message that says what to do."""

import pytest

from vault_agent.chat.client import CHAT
from vault_agent.codes import CODES
from vault_agent.embedding.unavailable import EMBEDDING
from vault_agent.endpoint.faults import Fault, Kind
from vault_agent.rerank.client import RERANKER


@pytest.mark.parametrize("service", [EMBEDDING, RERANKER, CHAT], ids=lambda each: each.section)
@pytest.mark.parametrize("kind", Kind)
def test_each_fault_has_a_message(service, kind):
    error = service.unavailable(Fault(kind), "tiny{model}")
    assert error.code in CODES
    assert "{section}" not in error.message
    assert error.details == {"reason": kind.name.lower()}
