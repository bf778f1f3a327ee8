// Reads pictures from a folder as they are needed. Link coldpress::images, with which open_source knows "images:", too.
#pragma once

#include <coldpress/data/source.hpp>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace coldpress::data {

struct ImageFolder {
  std::string folder;
  Index width = 0, height = 0;  // in pixels, to which pictures are resized; 0: all pictures have one size
  Index channels = 3;           // 3: red, green and blue; 1: grey
  bool skip = false;            // leaves out broken pictures, for which all are decoded first
  /// The names of the folders by class number; if empty, those that are there, sorted by bytes.
  std::vector<std::string> classes = {};
  bool labelled = true;  // otherwise there are no targets, and `folder` may also be a picture
};

/// The pictures of a folder that has a folder for each class: samples {channels, height, width} in [0, 1], the class
/// number as target. They are the files below it whose names end in .png, .jpg or .jpeg, in the order of their paths.
/// Transparency is ignored, and so is an orientation that a camera noted. They are resized by a triangle filter that
/// covers all pixels. If they are not `labelled`, they are all the pictures below the folder, or a single one, without
/// targets. Throws ConfigError, FileError and FormatError, which names the picture that cannot be read or has another
/// size than the first; readers throw the same.
std::unique_ptr<Source> open_images(ImageFolder images);

/// Whether the file's name ends in .png, .jpg or .jpeg, in letters of either case. coldpress::images need not be
/// linked.
bool is_picture_file(std::string const& path);

/// Writes {H, W}, {1, H, W} or {3, H, W} values in [0, 1], beyond which they are cut off, as a PNG file, atomically.
/// Throws ShapeError for other shapes, and FileError. coldpress::images need not be linked.
void write_png(std::string const& path, Shape const& shape, std::span<float const> values);

}  // namespace coldpress::data
