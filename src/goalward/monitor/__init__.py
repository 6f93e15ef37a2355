"""A learned value beside a robot: numpy, Pillow and ONNX Runtime, no torch."""
