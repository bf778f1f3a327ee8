// A training step of a small network on a GPU, in which each block processes some of the samples by itself.
#pragma once

// A block goes from the first layer to the last gradient with parameters, values and gradients in its own shared
// memory. Then all blocks together add up the gradients of each parameter, in the order of the blocks, and update it.

#include <coldpress/backend/grid.hpp>
#include <coldpress/run/update.hpp>
#include <coldpress/typed/static_program.hpp>

namespace coldpress {

/// The scratch that layers need when one block computes a pass by itself.
struct BlockOfGrid : Grid {
  static constexpr Index chunks_scratch(Index) { return 0; }
  static constexpr int workers_for(Index own) {
    return own == 0 ? 1 << 30 : static_cast<int>(freestanding::within<Index>(4096 / own, 1, grid::threads));
  }
};

/// How the samples of a step are divided among the blocks.
template <class Program>
struct Chunks;
template <class Graph, PlanOptions options, auto loss>
struct Chunks<StaticProgram<Graph, Grid, options, loss>> {
  using Program = StaticProgram<Graph, Grid, options, loss>;
  using Block = StaticProgram<Graph, BlockOfGrid, options, loss>;
  static constexpr Index parameters = Program::parameter_size, scratch = Block::scratch_size,
                         worker_scratch = Block::memory.worker_scratch;
  /// Floats that a block leaves behind: its gradients, and each loss times the number of its samples.
  static constexpr Index results = Grid::pitch(parameters + Program::size);

  /// The samples per block for a minibatch of `batch` samples, and the number of blocks.
  static constexpr Index samples(Index batch) { return grid::parts(batch, grid::cluster_blocks); }
  static constexpr Index count(Index batch) { return grid::parts(batch, samples(batch)); }
  /// The floats of shared memory per block. copies() says whether parameters are copied there, too, or read where they
  /// are because there is no room.
  static constexpr Index values(Index batch) { return scratch + samples(batch) * Program::plan().workspace; }
  static constexpr bool copies(Index batch) { return parameters + values(batch) <= grid::apart_values; }
  static constexpr Index size(Index batch) { return values(batch) + (copies(batch) ? parameters : 0); }
  /// Whether a block has enough shared memory, and no layer or loss needs other samples, a sample's position in the
  /// minibatch, or more memory that the threads of a block share.
  static constexpr bool fit(Index batch) {
    return batch > 1 && results <= grid::apart_values && size(batch) <= grid::apart_values && gradients_only() &&
           (!Program::has_loss || fits(loss, {}))&&[]<int... i>(std::integer_sequence<int, i...>) {
      return (fits(Graph::template layer<Graph::inputs + i>, Shapes{Graph::template input_shapes<Graph::inputs + i>}) &&
              ...);
    }
    (std::make_integer_sequence<int, Graph::size - Graph::inputs>{});
  }

 private:
  /// The blocks' results are added up, which would be wrong for statistics, because these are means.
  static constexpr bool gradients_only() {
    for (Parameter const& parameter : Graph::parameters.list) {
      if (parameter.is_statistic()) return false;
    }
    return true;
  }
  template <class L>
  static constexpr bool fits(L const& layer, Shapes in) {
    return is_by_sample(layer, in) && !requires { L::workspace; };
  }
};
template <class Graph, PlanOptions options, auto loss>
constexpr Chunks<StaticProgram<Graph, Grid, options, loss>> chunks_of(
    StaticProgram<Graph, Grid, options, loss> const&) {
  return {};
}

namespace detail {

/// A parameter's gradients as if they were in memory: the sums of what the blocks left, `stride` floats from each
/// other.
struct SumsOfBlocks {
  float const* first;
  Index count, stride;
  constexpr float operator[](Index e) const {
    float sum = first[e];
    for (Index block = 1; block < count; ++block) sum += first[block * stride + e];
    return sum;
  }
  constexpr SumsOfBlocks operator+(Index offset) const { return {first + offset, count, stride}; }
};

/// A run of `count` samples of `run` from `first` on, by a block that has them and `memory` to itself.
template <class Count, class Run>
constexpr auto some_of(Run const& run, grid::ThreadGroup const& thread_group, float* memory, Index first, Count count) {
  using Program = typename Run::ProgramType;
  using Chunks = decltype(chunks_of(run.program));
  Grid block = run.backend;
  static_cast<grid::ThreadGroup&>(block) = thread_group;
  block.scratch = memory;
  block.own_scratch = Chunks::worker_scratch;
  block.workers = BlockOfGrid::workers_for(Chunks::worker_scratch);
  constexpr Index batch = decltype(run.batch){};
  float const* parameters = run.parameters;
  if constexpr (Chunks::copies(batch)) {
    float* const copy = memory + Chunks::values(batch);
    block.each(Chunks::parameters / 4, [&](Index e) { grid::read_four(run.parameters + 4 * e, copy + 4 * e); });
    parameters = copy;
  }
  coldpress::Run<Program, Grid, Count> some{run.program, block, parameters, memory + Chunks::scratch,
                                            {},          count, run.seed,   run.step};
  [&]<int... k>(std::integer_sequence<int, k...>) {
    ((some.inputs[k] = run.inputs[k] + first * Program::columns(std::integral_constant<int, -1 - k>{})), ...);
  }
  (std::make_integer_sequence<int, Program::inputs_capacity>{});
  return some;
}

}  // namespace detail

/// train_step by blocks that process their own samples, as a function object.
struct ChunkedStepOf {
  static constexpr std::string_view name = "step";
  template <class Run, class Optimizer, class Frozen, class Gradients>
  constexpr float operator()(Run const& run, UpdateStep<Optimizer, float> update_step, Frozen const& frozen,
                             Gradients gradients, float* losses) const {
    using Chunks = decltype(chunks_of(run.program));
    constexpr Index batch = decltype(run.batch){}, samples = Chunks::samples(batch), count = Chunks::count(batch);
    float* const results = run.backend.scratch;
    run.backend.each_block_local(
        count, Chunks::size(batch), [&](grid::ThreadGroup const& thread_group, Index number, float* memory) {
          Index const first = number * samples;
          auto const some = detail::some_of(run, thread_group, memory, first, counted<samples, batch>(first));
          go_through(some, run, first, results + number * Chunks::results);
        });
    run.backend.wait();

    update_step.freeze(frozen.data());
    Slots const slots = run.program.slots();
    int const parameters = run.program.parameter_count();
    detail::SumsOfBlocks const sums{results, count, Chunks::results};
    if constexpr (std::is_null_pointer_v<Gradients>) {
      update_step.apply_gradient(run.backend, sums, slots, parameters);
      if constexpr (Run::ProgramType::bounds_weights()) update_step.constrain(run.backend, slots, parameters);
    } else {
      for (int i = 0; i < parameters; ++i) {
        Slot const& slot = slots.slots[i];
        if (slot.reached && !slot.shared)
          run.backend.apply_gradient(sums + slot.offset, slot.size,
                                     GradientSink<float>{gradients, update_step.adds()}.at(slot.offset));
      }
      update_step.finish(run.backend, gradients, slots, parameters);
    }
    return gather(run, sums + Chunks::parameters, losses);
  }

 private:
  /// The number of samples of the block that begins at `first`; the last block may have fewer.
  template <Index samples, Index batch>
  static constexpr auto counted(Index first) {
    if constexpr (batch % samples == 0) {
      return Fixed<samples>{};
    } else {
      return freestanding::min(samples, batch - first);
    }
  }
  /// Runs forward, losses and backward for a block's samples; copies its outputs to those of the whole minibatch.
  template <class Some, class Run>
  static constexpr void go_through(Some const& some, Run const& run, Index first, float* results) {
    using Chunks = decltype(chunks_of(run.program));
    using Graph = typename Run::ProgramType::Net;
    Grid const& block = some.backend;
    forward(some);
    loss_and_gradient(some, [&](auto g, float mean) {
      constexpr int node = Run::ProgramType::group(g).loss;
      block.once([&] { results[Chunks::parameters + node] = mean * static_cast<float>(Index{some.batch}); });
    });
    backward(some, GradientSinks<float>{{results}, run.program.slots()});
    [&]<int... k>(std::integer_sequence<int, k...>) {
      (copy_output(some, run, first, Run::ProgramType::output(std::integral_constant<int, k>{})), ...);
    }
    (std::make_integer_sequence<int, static_cast<int>(Graph::outputs.size())>{});
  }
  template <class Some, class Run, class G>
  static constexpr void copy_output(Some const& some, Run const& run, Index first, G g) {
    if constexpr (G::value >= 0) {
      auto const to = run.value(g);
      some.backend.map(some.value(g), some.rows(g, to.row(first), to.pitch), PostOps<Chain<>, float, NoJoin>{});
    }
  }
  /// Computes the mean losses of all samples; returns their sum.
  template <class Run>
  static constexpr float gather(Run const& run, detail::SumsOfBlocks const& sums, float* losses) {
    float total = 0;
    if (run.backend.is_asked()) return total;
    run.program.for_each_group([&](auto g) {
      constexpr int node = Run::ProgramType::group(g).loss;
      if constexpr (node >= 0) {
        float const mean = sums[node] / static_cast<float>(Index{run.batch});
        run.backend.once([&] { losses[node] = mean; });
        total += mean;
        if (double* const all = run.sums_of(node)) detail::gather(run, all, mean);
      }
    });
    return total;
  }
};

template <class Graph, PlanOptions options, auto loss, Index batch>
requires(Chunks<StaticProgram<Graph, Grid, options, loss>>::fit(
    batch)) struct StepBy<Grid, StaticProgram<Graph, Grid, options, loss>, Fixed<batch>> {
  using type = ChunkedStepOf;
};

}  // namespace coldpress
