// Folders of pictures as a data set: finds the files, takes folders as classes, and decodes them as they are read.
#include <coldpress/data/images.hpp>

#include "data/components.hpp"
#include "data/formats.hpp"
#include "picture.hpp"

#include <coldpress/data/atomic_file.hpp>

#include <algorithm>
#include <filesystem>

namespace coldpress::data {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_file = std::size_t{1} << 30;

struct Entry {
  std::string name;  // relative to the folder of all classes
  std::size_t label;
};

/// Whether a file, or a folder that it is in, is hidden: its name begins with a dot.
bool is_hidden(fs::path const& relative) {
  return std::ranges::any_of(relative, [](fs::path const& part) { return part.string().starts_with('.'); });
}

/// Calls `visit` for what is in a folder; errors of the system name the folder.
template <class Entries, class Visit>
void for_each_in(std::string const& folder, Visit visit) {
  try {
    for (auto const& entry : Entries{folder}) visit(entry);
  } catch (fs::filesystem_error const& error) {
    fail_in<FileError>(folder, "cannot read the folder: " + error.code().message());
  }
}

/// Links are followed. One that leads nowhere, or around in a circle, leads to no folder.
bool is_folder(fs::directory_entry const& entry) {
  std::error_code ignored;
  return entry.is_directory(ignored);
}

/// Throws FormatError if the folder of a class is one that contains this one, so that it would have the pictures of all
/// classes.
void check_leads_down(std::string const& folder, std::string const& name) {
  std::error_code error;
  fs::path const whole = fs::canonical(folder, error), part = fs::canonical(fs::path{folder} / name, error);
  if (error) return;  // reading it says why
  if (std::ranges::mismatch(part, whole).in1 == part.end())
    fail_in<FormatError>((fs::path{folder} / name).string(),
                         "is a link to a folder that contains it, " + part.string());
}

/// The folders in a folder, which are those of classes if pictures have any.
std::vector<std::string> folders_in(std::string const& folder) {
  std::vector<std::string> names;
  for_each_in<fs::directory_iterator>(folder, [&](fs::directory_entry const& entry) {
    std::string const name = entry.path().filename().string();
    if (is_folder(entry) && !is_hidden(name)) names.push_back(name);
  });
  std::ranges::sort(names);
  return names;
}

/// The names of the pictures in a folder, or below it, relative to `top`, sorted.
template <class Entries>
std::vector<std::string> pictures_in(std::string const& folder, std::string const& top) {
  std::vector<std::string> names;
  for_each_in<Entries>(folder, [&](fs::directory_entry const& entry) {
    auto const name = entry.path().lexically_relative(top);
    if (is_picture_file(name.string()) && !is_hidden(name) && !is_folder(entry)) names.push_back(name.string());
  });
  std::ranges::sort(names);
  return names;
}

/// The pictures below one of its folders.
std::vector<std::string> pictures_below(std::string const& top, std::string const& name) {
  check_leads_down(top, name);
  return pictures_in<fs::recursive_directory_iterator>((fs::path{top} / name).string(), top);
}

/// All pictures below a folder, in the order that they would have with classes, after those that are directly in it; or
/// the picture that `images.folder` is.
std::vector<Entry> entries_alone(ImageFolder& images) {
  std::vector<Entry> entries;
  std::error_code ignored;
  if (!fs::is_directory(images.folder, ignored)) {
    fs::path const path = images.folder;
    images.folder = path.parent_path().string();
    return {{path.filename().string(), 0}};
  }
  auto const add = [&](std::vector<std::string> names) {
    for (std::string& name : names) entries.push_back({std::move(name), 0});
  };
  add(pictures_in<fs::directory_iterator>(images.folder, images.folder));
  for (std::string const& name : folders_in(images.folder)) add(pictures_below(images.folder, name));
  if (entries.empty()) fail_in<FormatError>(images.folder, "has no picture in it, expected .png, .jpg or .jpeg");
  return entries;
}

/// The pictures of all classes, of the first class first. Classes that were given need not have pictures here.
std::vector<Entry> entries_in(ImageFolder const& images, std::vector<std::string> const& found,
                              bool classes_are_found) {
  std::vector<Entry> entries;
  for (std::size_t label = 0; label < images.classes.size(); ++label) {
    if (!std::ranges::binary_search(found, images.classes[label])) continue;
    auto names = pictures_below(images.folder, images.classes[label]);
    if (names.empty() && classes_are_found)
      fail_in<FormatError>((fs::path{images.folder} / images.classes[label]).string(),
                           "has no picture in it, so it would be a class that no sample has; expected .png, "
                           ".jpg or .jpeg, or the classes by name in ?classes=");
    for (std::string& name : names) entries.push_back({std::move(name), label});
  }
  if (entries.empty())
    fail_in<FormatError>(images.folder, "has no picture in the folders of its classes, expected .png, .jpg or .jpeg");
  return entries;
}

/// The pictures in the folders of their classes. If no classes are given, images.classes becomes those that are found.
std::vector<Entry> labelled_entries(ImageFolder& images) {
  auto const found = folders_in(images.folder);
  if (found.empty()) fail_in<FormatError>(images.folder, "has no folder in it, expected one for each class");
  bool const any = images.classes.empty();
  if (any) images.classes = found;
  for (std::string const& name : found)
    if (std::ranges::find(images.classes, name) == images.classes.end())
      fail_in<FormatError>(images.folder, "has a folder " + printable(name) + ", which is none of the classes given");
  return entries_in(images, found, any);
}

class ImageSource final : public Source {
 public:
  struct Content {
    ImageFolder images;
    std::vector<Entry> entries;
    Description description;
    std::string first;  // the picture whose size all have; empty if they are resized

    std::string path(Index i) const {
      return (fs::path{images.folder} / entries[static_cast<std::size_t>(i)].name).string();
    }
  };

  explicit ImageSource(Content content) : Source(content.description), content_(std::move(content)) {}
  std::unique_ptr<Source::Reader> reader() const override { return std::make_unique<Pictures>(content_); }
  std::string name_of(Index i) const override { return content_.path(i); }

  class Pictures final : public Source::Reader {
   public:
    explicit Pictures(Content const& content) : content_(content), sampler_(sampler_of(content)) {}
    void read(Index first, Index count, float* samples, float* targets) override {
      for (Index i = 0; i < count; ++i) {
        if (content_.images.labelled)
          targets[i] = static_cast<float>(content_.entries[static_cast<std::size_t>(first + i)].label);
        if (samples) read_sample(content_.path(first + i), samples + i * content_.description.sample_shape.size());
      }
    }
    void read_sample(std::string const& path, float* values) {
      with_file(path, [&] {
        decode(read_file(path, largest_file), picture_);
        auto const& shape = content_.description.sample_shape;
        if (!content_.first.empty() && (picture_.height != shape[1] || picture_.width != shape[2]))
          throw FormatError{"is " + std::to_string(picture_.width) + " x " + std::to_string(picture_.height) +
                            " pixels, but " + content_.first + " is " + std::to_string(shape[2]) + " x " +
                            std::to_string(shape[1]) + "; width and height resize all pictures to one size"};
        sampler_.sample(picture_, values);
      });
    }

   private:
    static Sampler sampler_of(Content const& content) {
      auto const& shape = content.description.sample_shape;
      return {shape[0], shape[1], shape[2]};
    }
    Content const& content_;
    DecodedPicture picture_;
    Sampler sampler_;
  };

 private:
  Content content_;
};

/// The first picture that can be read decides the size, if none is given.
void find_size(ImageSource::Content& content) {
  auto& shape = content.description.sample_shape;
  shape = {content.images.channels, content.images.height, content.images.width};
  if (content.images.width > 0) return;
  for (Index i = 0; i < static_cast<Index>(content.entries.size()); ++i) {
    std::string const path = content.path(i);
    try {
      with_file(path, [&] {
        DecodedPicture const picture = measure(read_file(path, largest_file));
        shape = {content.images.channels, picture.height, picture.width};
        content.first = path;
      });
      return;
    } catch (FormatError const&) {
      if (!content.images.skip) throw;
    }
  }
}

/// Leaves out what cannot be read. A picture of another size is not broken.
void leave_out_broken(ImageSource::Content& content) {
  DecodedPicture picture;
  std::erase_if(content.entries, [&](Entry const& entry) {
    std::string const path = (fs::path{content.images.folder} / entry.name).string();
    try {
      with_file(path, [&] { decode(read_file(path, largest_file), picture); });
      return false;
    } catch (FormatError const& error) {
      content.description.skipped.push_back(error.what());
      return true;
    }
  });
  if (content.entries.empty())
    fail_in<FormatError>(content.images.folder,
                         "has no picture that can be read; the first: " + content.description.skipped.front());
}

void check(ImageFolder const& images) {
  if (images.channels != 1 && images.channels != 3)
    throw ConfigError{"pictures have " + std::to_string(images.channels) + " channels, expected 1 (grey) or 3 (RGB)"};
  if ((images.width == 0) != (images.height == 0))
    throw ConfigError{"pictures are resized to a width and a height, but only one of them is given"};
  if (images.width < 0 || images.height < 0 || (images.width > 0 && images.height > most_pixels / images.width))
    throw ConfigError{"pictures are resized to " + std::to_string(images.width) + " x " +
                      std::to_string(images.height) + " pixels, expected 1 to 2^26"};
  check_classes(images.classes);
}

}  // namespace

std::unique_ptr<Source> open_images(ImageFolder images) {
  check(images);
  ImageSource::Content content{std::move(images), {}, {}, {}};
  if (content.images.labelled) {
    content.entries = labelled_entries(content.images);
    content.description.target_shape = {1};
    content.description.classes = content.images.classes;
  } else {
    content.entries = entries_alone(content.images);
  }
  if (content.images.skip) leave_out_broken(content);
  find_size(content);
  content.description.size = static_cast<Index>(content.entries.size());
  return std::make_unique<ImageSource>(std::move(content));
}

/// Makes the component known before main(). The linker keeps this file because coldpress::images asks for this name.
extern "C" __attribute__((constructor(101))) void coldpress_images_format() { components().open_images = open_images; }

}  // namespace coldpress::data
