// coldpress-bench as a function, for programs that have other commands as well.
#pragma once

namespace bench {

int command(int argc, char** argv);

}  // namespace bench
