"""The linker's own windows: retraining, bundles and what one changed, evaluation, detection, the map of embeddings."""
