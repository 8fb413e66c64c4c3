"""Operations: what callers can do with a vault, independent of the protocol."""
