"""Text to terms and names: the one normalisation that notes and queries share."""
