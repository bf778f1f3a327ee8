// What the component does where a library that it needs was not found when it was built.
#include <coldpress/convert/caffe.hpp>
#include <coldpress/convert/keras.hpp>
#include <coldpress/convert/mocha.hpp>
#include <coldpress/convert/nam.hpp>
#include <coldpress/convert/onnx.hpp>
#include <coldpress/convert/rtneural.hpp>
#include <coldpress/convert/safetensors.hpp>

namespace coldpress::convert {
namespace {

[[noreturn, maybe_unused]] void refuse(std::string const& files, std::string const& library) {
  throw UnsupportedError{files + " need " + library + ", without which coldpress::convert was built"};
}

}  // namespace

bool has_nam() {
#ifdef COLDPRESS_CONVERT_NAM
  return true;
#else
  return false;
#endif
}

#ifndef COLDPRESS_CONVERT_MOCHA
Conversion read_mocha(std::string const&, dynamic::LayerConfig, Options const&) { refuse("Mocha's files", "HDF5"); }
void write_mocha(std::string const&, persist::Model const&) { refuse("Mocha's files", "HDF5"); }
data::NpyArray read_mocha_mean(std::string const&) { refuse("Mocha's files", "HDF5"); }
#endif

#ifndef COLDPRESS_CONVERT_KERAS
persist::Model read_keras(std::string const&, KerasOptions const&) { refuse("Keras' files", "HDF5 and nlohmann-json"); }
#endif

#ifndef COLDPRESS_CONVERT_CAFFE
Conversion read_caffe(std::string const&, dynamic::LayerConfig, Options const&) { refuse("Caffe's files", "protobuf"); }
data::NpyArray read_caffe_mean(std::string const&) { refuse("Caffe's files", "protobuf"); }
bool has_onnx() { return false; }
bool is_onnx(std::string const&) { return false; }
Conversion read_onnx(std::string const&, OnnxOptions const&) { refuse("ONNX models", "protobuf"); }
std::vector<OnnxOperator> onnx_operators() { return {}; }
void write_onnx(std::string const&, persist::Model const&, std::optional<Shape> const&) {
  refuse("ONNX models", "protobuf");
}
std::vector<OnnxLayer> onnx_layers() { return {}; }
#endif

#ifndef COLDPRESS_CONVERT_NAM
NamModel read_nam(std::string const&, NamOptions const&) { refuse(".nam files", "nlohmann-json"); }
void write_nam(std::string const&, persist::Model const&, NamMetadata const&) { refuse(".nam files", "nlohmann-json"); }
persist::Model read_rtneural(std::string const&, RtneuralOptions const&) {
  refuse("RTNeural's files", "nlohmann-json");
}
Conversion read_safetensors(std::string const&, dynamic::LayerConfig, Options const&) {
  refuse("safetensors files", "nlohmann-json");
}
void write_safetensors(std::string const&, persist::Model const&, NameMap const&) {
  refuse("safetensors files", "nlohmann-json");
}
#endif

}  // namespace coldpress::convert
