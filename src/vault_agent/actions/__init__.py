"""What the product can do, one module each."""
