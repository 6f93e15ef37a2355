"""HDF5 files that keep episodes as `data/demo_<number>`: what robomimic and LIBERO share."""
