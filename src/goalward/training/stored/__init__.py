"""What a training reads and leaves on disk: features, frames, checkpoints, tensors."""
