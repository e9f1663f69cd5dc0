"""The default model, all-MiniLM-L6-v2: its official files, its graph, and the ONNX file built from both."""
