// coldpress-bench as a function, for programs that also have other commands.
#pragma once

namespace bench {

int command(int argc, char** argv);

}  // namespace bench
