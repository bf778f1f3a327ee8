// The extension module _coldpress, which the package coldpress makes public.
#include "bindings.hpp"

NB_MODULE(_coldpress, module) {
  module.doc() = "Networks of coldpress: run, trained and converted.";
  module.attr("version") = COLDPRESS_VERSION;  // a name that the stub has, too
  coldpress::python::add_errors(module);
  coldpress::python::add_network(module);
  coldpress::python::add_solver(module);
}
