// What the command's --data opens: one or two files, and whether they fit together. The first byte says which of the
// kinds it is to be, the second how long the first file is, in parts of 256 of the rest.
#include <coldpress/data/dataset.hpp>

#include "folder.hpp"

void coldpress::fuzz::run(std::span<std::byte const> bytes) {
  if (bytes.size() < 2) return;
  auto const both = bytes.subspan(2);
  auto const first = both.first(both.size() * std::to_integer<unsigned>(bytes[1]) / 256),
             second = both.subspan(first.size());
  MemoryFile const x{first}, y{second}, whole{both};
  std::string const specs[] = {"mnist:" + folder(),
                               "mnist-test:" + folder(),
                               "csv:" + whole.path(),
                               "npy:" + x.path() + "," + y.path(),
                               "npz:" + whole.path(),
                               "csv:" + whole.path() + "?label=1",
                               "csv:" + whole.path() + "?label=b&ignore=a&delimiter=;&header=1&classes=u,v",
                               "csv:" + whole.path() + "?targets=b,1",
                               "cifar10-test:" + folder(),
                               "cifar100-test:" + folder()};
  auto const kind = std::to_integer<unsigned>(bytes[0]) % std::size(specs);
  if (kind < 2) {
    std::string const set = kind == 0 ? "train" : "t10k";
    put(set + "-images-idx3-ubyte", first);
    put(set + "-labels-idx1-ubyte", second);
  }
  if (kind >= 8) {
    put(kind == 8 ? "test_batch.bin" : "test.bin", first);
    put(kind == 8 ? "batches.meta.txt" : "fine_label_names.txt", second);
  }
  auto const dataset = data::open(specs[kind]);
  check(dataset);
  demand(dataset.size() > 0, "a data set without samples was opened");
  for (float const target : dataset.targets)
    demand(dataset.classes.empty() || static_cast<std::size_t>(target) < dataset.classes.size(),
           "a label has no class");
}
