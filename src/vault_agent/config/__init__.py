"""Settings from flags, environment, the user's TOML file, and defaults, in this order."""
