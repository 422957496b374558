"""Layers: every file here registers the layers that it defines."""
