"""Operations: what can be asked of the product, by whom, whatever protocol carries the question."""
