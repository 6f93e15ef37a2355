"""Kernels in Triton for what matrix products leave over of a training step on CUDA.

Moving bytes is all that these cost, and written out LayerNorm and GELU would move theirs ten times.
`fused.py` says when they are used; everywhere else the same is computed as `value_net.py`,
`adam.py`, `inputs.py` and `replay.py` write it, and `test_kernels.py` compares both.
Nothing here adds up in an order that depends on chance: the same seed gives the same numbers.
"""
