// The page's code.
