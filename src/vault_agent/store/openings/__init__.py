"""Which notes were opened after which searches."""
