// The exceptions of coldpress as exceptions of Python, with the same names and fields.
#include "bindings.hpp"

namespace coldpress::python {
namespace {

/// The Python classes, which the module keeps alive.
struct Classes {
  nb::object error, shape, config, unsupported, mismatch, file, memory, device, format, checksum, data, divergence;
};
Classes* classes = nullptr;

nb::object class_of(Error const& error) {
  if (dynamic_cast<ChecksumError const*>(&error)) return classes->checksum;
  if (dynamic_cast<FormatError const*>(&error)) return classes->format;
  if (dynamic_cast<ShapeError const*>(&error)) return classes->shape;
  if (dynamic_cast<ConfigError const*>(&error)) return classes->config;
  if (dynamic_cast<UnsupportedError const*>(&error)) return classes->unsupported;
  if (dynamic_cast<MismatchError const*>(&error)) return classes->mismatch;
  if (dynamic_cast<FileError const*>(&error)) return classes->file;
  if (dynamic_cast<MemoryError const*>(&error)) return classes->memory;
  if (dynamic_cast<DeviceError const*>(&error)) return classes->device;
  if (dynamic_cast<DataError const*>(&error)) return classes->data;
  if (dynamic_cast<DivergenceError const*>(&error)) return classes->divergence;
  return classes->error;
}

/// Texts of files may have bytes that are not UTF-8.
nb::object text_of(std::string_view text) {
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}

void raise_in_python(Error const& error) {
  nb::object const type = class_of(error);
  nb::object const value = type(text_of(error.what()));
  auto const set = [&](char const* name, std::string_view text) {
    value.attr(name) = text.empty() ? nb::object(nb::none()) : text_of(text);
  };
  set("sentence", error.sentence()), set("file", error.file()), set("layer", error.layer()),
      set("field", error.field());
  if (auto const* const diverged = dynamic_cast<DivergenceError const*>(&error)) {
    value.attr("step") = diverged->step, value.attr("loss") = diverged->loss;
    set("weight", diverged->weight);
  }
  PyErr_SetObject(type.ptr(), value.ptr());
}

}  // namespace

void add_errors(nb::module_& module) {
  auto const add = [&](char const* name, nb::handle base, char const* doc) {
    std::string const full = std::string{"coldpress."} + name;
    nb::object type = nb::steal(PyErr_NewExceptionWithDoc(full.c_str(), doc, base.ptr(), nullptr));
    module.attr(name) = type;
    return type;
  };
  static Classes all;
  all.error =
      add("Error", PyExc_Exception,
          "The base of all exceptions of coldpress. `sentence` says what is wrong; `file`, `layer` and `field` say "
          "where, or are None.");
  for (char const* field : {"sentence", "file", "layer", "field"}) all.error.attr(field) = nb::none();
  all.shape = add("ShapeError", all.error, "Shapes that do not fit each other, or data that does not fit a shape.");
  all.config = add("ConfigError", all.error, "A configuration that is invalid.");
  all.unsupported = add("UnsupportedError", all.error, "A layer, format or backend that this build cannot handle.");
  all.mismatch = add("MismatchError", all.error, "A valid configuration or file that is not the expected one.");
  all.file = add("FileError", all.error, "The operating system refused to open, read, write or rename a file.");
  all.memory = add("MemoryError", all.error, "There is not enough memory for a file.");
  all.device = add("DeviceError", all.error, "A device failed.");
  all.format = add("FormatError", all.error, "The bytes of a file do not follow its format.");
  all.checksum = add("ChecksumError", all.format, "The content of a file does not match its checksum.");
  all.data = add("DataError", all.error, "A label that is not a class, or a value that is infinite or NaN.");
  all.divergence = add("DivergenceError", all.error,
                       "Training has diverged: the loss of `step`, or `weight` after it, is infinite or NaN.");
  classes = &all;
  nb::register_exception_translator([](std::exception_ptr const& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (Error const& error) {
      raise_in_python(error);
    }
  });
}

}  // namespace coldpress::python
