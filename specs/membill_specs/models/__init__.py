"""Dimensions of real models, one TOML file each."""
