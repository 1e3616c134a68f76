"""Runs local and remote models: ONNX, batching, HTTP with a deadline, threads to abandon."""
