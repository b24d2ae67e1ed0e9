"""The principals of the paper's predecessors and peers."""
