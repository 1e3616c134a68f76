"""How does a model get in? The same operations as tools of the Model Context Protocol."""
