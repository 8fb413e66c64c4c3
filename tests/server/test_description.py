"""The OpenAPI document is whole. `tests/security/test_fuzz.py` holds that replies match it."""

from __future__ import annotations

import json
import re

from vault_agent.server.openapi import describe


def test_every_reference_leads_to_a_schema():
    document = describe()
    references = re.findall(r'"\$ref": "([^"]+)"', json.dumps(document))
    assert {each.removeprefix("#/components/schemas/") for each in references} <= set(
        document["components"]["schemas"]
    )


def test_values_are_called_as_in_json():
    text = json.dumps(describe()).replace("If-None-Match", "")
    assert re.findall(r"[^.\"]*\bNone\b[^.\"]*", text) == []
