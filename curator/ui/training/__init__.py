"""The windows for the linker: retraining, bundles and promotion diff, evaluation, detection, embedding map."""
