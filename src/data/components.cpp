// Calls the components for HDF5, pictures and sound, or says which one the program was not linked with.
#include "components.hpp"

#include "formats.hpp"

namespace coldpress::data {

Components& components() {
  static constinit Components set;
  return set;
}

Opened open_hdf5_files(Request const& request) {
  if (!components().open_hdf5)
    throw UnsupportedError{"this program reads no HDF5 files: it was built without coldpress::hdf5"};
  auto const& options = request.options;
  std::string const targets = request.samples_alone ? "" : options.text("y", "label");
  return components().open_hdf5({listed_files(request.paths), options.text("x", "data"), targets,
                                 options.count("block"), options.count("shuffle"), request.reading.finite});
}

Opened open_image_folder(Request const& request) {
  if (!components().open_images)
    throw UnsupportedError{"this program reads no pictures: it was built without coldpress::images"};
  auto const& options = request.options;
  ImageFolder images{
      request.paths[0],       options.count("width"), options.count("height"), 3, options.flag("skip", false),
      options.list("classes")};
  if (options.has("channels")) images.channels = options.count("channels");
  images.labelled = !request.samples_alone || options.has("classes");
  return components().open_images(std::move(images));
}

Sound read_sound(std::string const& path) {
  if (!components().read_sound)
    throw UnsupportedError{"this program reads no sound files: it was built without coldpress::sound"};
  return components().read_sound(path);
}

void write_sound(std::string const& path, Sound const& sound, SoundFormat format) {
  if (!components().write_sound)
    throw UnsupportedError{"this program writes no sound files: it was built without coldpress::sound"};
  components().write_sound(path, sound, format);
}

}  // namespace coldpress::data
