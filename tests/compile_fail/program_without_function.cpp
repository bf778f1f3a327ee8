// error: loss_input
// lines gcc: 19
#include <coldpress/coldpress.hpp>

using namespace coldpress;

struct Lacking : StaticProgram<StaticGraph<Sequential<Linear{3}>, Shape{4}>, Cpu, PlanOptions{}> {
  void loss_input() const;  // that of StaticProgram is hidden
};

int main() {
  Run<Lacking, Cpu, Index>* run = nullptr;
  static_cast<void>(run);
}
