"""Text analysis: analyzers, query dialects, intents, dates, keywords and prompt text."""
