"""How well search finds what people looked for, beside baselines, in one run."""
