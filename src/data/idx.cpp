// Reads one array, whose header is checked against the size of the file before memory is taken.
#include <coldpress/data/idx.hpp>

#include "extents.hpp"

#include <coldpress/core/counted.hpp>

namespace coldpress::data {

IdxArray read_idx(std::string const& path, int rank, ReadOptions options) {
  InputFile source{path, options};
  unsigned char magic[4];
  if (source.read(std::as_writable_bytes(std::span{magic})) < 4 || magic[0] != 0 || magic[1] != 0)
    source.malformed("is not an IDX file: it must begin with two zero bytes, a type and a rank");
  if (magic[2] != 0x08)
    source.malformed("holds values of IDX type " + std::to_string(magic[2]) + ", expected 8 (unsigned bytes)");
  if (magic[3] != rank) source.malformed("has " + counted(magic[3], "extent") + ", expected " + std::to_string(rank));

  IdxArray array;
  for (int axis = 0; axis < rank; ++axis) {
    unsigned char bytes[4];
    if (source.read(std::as_writable_bytes(std::span{bytes})) < 4) source.malformed("ends inside the header");
    array.extents.push_back(Index{bytes[0]} << 24 | Index{bytes[1]} << 16 | Index{bytes[2]} << 8 | Index{bytes[3]});
  }
  std::size_t const promised = promised_values(source, array.extents, 1);
  for (std::size_t done = 0; done < promised;) {
    std::size_t const wanted = std::min(std::size_t{1} << 20, promised - done);
    make_room(array.values, source, promised, done, wanted);
    if (source.read(std::as_writable_bytes(std::span{array.values}.subspan(done, wanted))) < wanted)
      source.malformed("ends before the " + std::to_string(promised) + " values that the header promises");
    done += wanted;
  }
  expect_end(source);
  return array;
}

}  // namespace coldpress::data
