// error: Layer
#include <coldpress/coldpress.hpp>

using namespace coldpress;

using Net = Sequential<Linear{7}, 3>;
