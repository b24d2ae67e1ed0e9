"""The command line, and playing by hand."""
