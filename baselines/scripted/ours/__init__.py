"""Principals without a theorem that do best in practice."""
