"""`python -m vault_agent`: the command line where its script is not on the path."""

from vault_agent.cli.main import main

main()
