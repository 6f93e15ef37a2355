"""The same networks run by ONNX Runtime: as they are, and in 8 bits."""
