"""Access to the vault's files. No other package opens them."""
