"""What the scripts that make models of Keras have in common."""

import h5py


def copy(old, new):  # smaller than it was
    for key, value in old.attrs.items():
        new.attrs[key] = value
    for key, value in old.items():
        if isinstance(value, h5py.Group):
            copy(value, new.create_group(key))
        elif key != "seed_generator_state":
            new[key] = value[()]
