// Compiles the training of networks on the engine of "cpu", which only programs that train link.
#include <coldpress/kernels/linked_layers.hpp>  // first, so that the trainer calls its passes
#include "trainer.hpp"

namespace coldpress::dynamic {

void link_training() { trainer_maker<LinkedCpu>.store(Trainer<LinkedCpu>::make, std::memory_order_relaxed); }

namespace {
/// Registers the training code before anything else runs, so that reserve(), which does not link it, finds it.
__attribute__((constructor(101))) void link_before_all_else() { link_training(); }
}  // namespace

}  // namespace coldpress::dynamic
