// error: reshape: the shapes must have equally many values
#include <coldpress/coldpress.hpp>

using namespace coldpress;

int main() { Network<Sequential<Linear{7}, Reshape{{2, 3}}>, Shape{4}> net; }
