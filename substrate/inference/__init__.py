"""Models that somebody else made: embeddings, language models, rerankers."""
