"""Models of other makers: embeddings, language models, rerankers."""
