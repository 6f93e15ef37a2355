"""Files of object stores (`s3://`, `gs://`, `hf://`, ...) as files of this machine.

Readers take real files and check them with care; so what lies in a store is laid out here in
folders of the same names: tables at once, of videos only the beginning and the index, and all of
a video when its frames are wanted.
"""
