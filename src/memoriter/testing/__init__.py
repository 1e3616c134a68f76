"""How does anyone know that it works? Fakes, a naive oracle, and the contract of every store."""
