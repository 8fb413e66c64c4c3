"""No test finds the settings of the developer."""

import pytest
from platformdirs.windows import Windows
from tests.support.homes import at_home

HOME = r"C:\home"


def test_windows_too_has_settings_and_data_in_the_home_of_a_test(monkeypatch: pytest.MonkeyPatch):
    """It asks the system for these folders, whatever LOCALAPPDATA says."""
    for name, value in at_home(HOME).items():
        monkeypatch.setenv(name, value)
    windows = Windows("vault-agent", appauthor=False)
    for folder in (windows.user_config_dir, windows.user_data_dir):
        assert folder.startswith(HOME)
