"""Video files: frames matched to their time, without decoding where it can be helped."""
