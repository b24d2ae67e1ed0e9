"""How fast the game is: the rows of ``pa-bench speed``."""
