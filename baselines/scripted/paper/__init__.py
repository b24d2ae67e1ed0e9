"""The principals of Liu & Ratliff (ICML 2025), and what they are made of."""
