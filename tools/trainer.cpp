#include "trainer.hpp"

#include "interruption.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <utility>

namespace coldpress::command {
namespace {

constexpr Index points = 400;  // approximate number of points in a curve

/// a * b, limited so that there is room to count further.
Index product(Index a, Index b) {
  constexpr Index greatest = Index{1} << 62;
  return a <= greatest / b ? a * b : greatest;
}

Index samples_done(persist::Checkpoint const& run, data::Source const& training) {
  if (run.epoch >= static_cast<std::uint64_t>(run.epochs)) return product(run.epochs, training.size());
  return product(static_cast<Index>(run.epoch), training.size()) + static_cast<Index>(run.position);
}

data::Batches batches_from(persist::Checkpoint const& run, data::Source const& training) {
  data::Batches batches{data::shuffled(training, run.seed), run.batch};
  batches.seek({run.epoch, static_cast<Index>(run.position)});
  return batches;
}

}  // namespace

Trainer::Trainer(dynamic::Solver& solver, persist::Checkpoint const& run, data::Source const& training,
                 data::Source const* test, Outputs outputs, Index prefetch)
    : solver_(solver),
      run_(run),
      training_(training),
      test_(test),
      outputs_(std::move(outputs)),
      batches_(batches_from(run, training), prefetch),
      labels_(has_labels(run.loss, solver.network().output_shape(), training.target_shape())),
      done_(samples_done(run, training)),
      progress_(stdout, product(run.epochs, training.size()), done_) {
  Index const steps = (training.size() + run.batch - 1) / run.batch;
  steps_per_point_ = std::max<Index>(1, product(steps, run.epochs) / points);
  epochs_per_point_ = std::max<Index>(1, run.epochs / points);
  auto const encode = [](std::string const& file, auto const& content) {
    with_context([&] { persist::serialize(content()); }, [&](Error& error) { error.in_file(file); });
  };
  encode(outputs_.save, [&] { return model(); });
  if (!outputs_.checkpoint.empty()) encode(outputs_.checkpoint, [&] { return checkpoint(); });
}

void Trainer::train(std::uint64_t steps) {
  Interruption::listen();
  while (batches_.position().epoch < static_cast<std::uint64_t>(run_.epochs) &&
         (steps == 0 || solver_.iteration() < steps)) {
    bool const unread = Interruption::unread() && !outputs_.checkpoint.empty();
    if (Interruption::asked() || unread) {
      finish(false);
      throw Error{"interrupted after step " + std::to_string(solver_.iteration()) +
                  (unread ? ", since nobody reads the output" : "") +
                  (outputs_.checkpoint.empty() ? "; nothing is saved, since there is no --checkpoint"
                                               : "; continue with --resume " + outputs_.checkpoint)};
    }
    step();
  }
  solver_.check_finite();  // before anything is written
  finish(true);
  std::printf("Saved the network after %s steps to %s; waited for data %.1f %% of the time\n",
              std::to_string(solver_.iteration()).c_str(), outputs_.save.c_str(),
              seconds_ > 0 ? 100 * batches_.seconds_waited() / seconds_ : 0);
}

void Trainer::step() {
  auto const start = std::chrono::steady_clock::now();
  auto const batch = batches_.next();
  dynamic::Values const both[] = {batch.samples, batch.targets};
  std::size_t const inputs = solver_.network().input_shapes().size();
  double const loss = static_cast<double>(run_.loss ? solver_.train_minibatch(batch.samples, batch.targets)
                                                    : solver_.train_minibatch(std::span{both}.first(inputs)));
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  loss_.add(loss, batch.size);
  recent_loss_.add(loss, batch.size);
  if (labels_) {
    auto const right = static_cast<double>(correct(solver_.network().executable().output(), batch.targets));
    accuracy_.add(right / static_cast<double>(batch.size), batch.size);
  }
  done_ += batch.size;
  if (++recent_ == steps_per_point_) add_point();
  run_.epoch = batch.position.epoch;
  progress_.update(label(), done_, loss_.value());
  if (batch.ends_epoch) end_epoch();
  bool const due =
      outputs_.checkpoint_every > 0 && solver_.iteration() % static_cast<std::uint64_t>(outputs_.checkpoint_every) == 0;
  if (batch.ends_epoch || due) write_checkpoint();
}

void Trainer::add_point() {
  loss_curve_.x.push_back(static_cast<double>(done_) / static_cast<double>(training_.size()));
  loss_curve_.y.push_back(recent_loss_.value());
  recent_loss_ = {}, recent_ = 0;
}

void Trainer::end_epoch() {
  auto const epoch = static_cast<double>(run_.epoch + 1);
  auto const add = [&](data::Curve& curve, std::optional<double> value) {
    if (value && (static_cast<Index>(run_.epoch) + 1) % epochs_per_point_ == 0)
      curve.x.push_back(epoch), curve.y.push_back(*value);
  };
  Score const score{loss_.value(), labels_ ? std::optional{accuracy_.value()} : std::nullopt};
  add(accuracy_curve_, score.accuracy);
  std::string line = label() + "  " + to_string(score);
  if (test_) {
    Score const test = evaluate(solver_.mut_network(), run_.loss, *test_, run_.batch);
    add(test_loss_curve_, test.loss);
    add(test_accuracy_curve_, test.accuracy);
    line += "  test " + to_string(test);
  }
  progress_.print(line);
  loss_ = accuracy_ = {};
}

persist::Model Trainer::model() const {
  return persist::model_of(solver_.network(), solver_.config().minibatch_size.value_or(1));
}

persist::Checkpoint Trainer::checkpoint() const {
  auto checkpoint = persist::checkpoint_of(std::as_const(solver_));
  checkpoint.data = run_.data;
  checkpoint.epochs = run_.epochs;
  checkpoint.batch = run_.batch;
  checkpoint.seed = run_.seed;
  checkpoint.epoch = batches_.position().epoch;
  checkpoint.position = static_cast<std::uint64_t>(batches_.position().offset);
  return checkpoint;
}

void Trainer::write_checkpoint() {
  if (outputs_.checkpoint.empty() || checkpointed_ == solver_.iteration()) return;
  persist::write_checkpoint(outputs_.checkpoint, checkpoint());
  checkpointed_ = solver_.iteration();
}

void Trainer::finish(bool all) {
  std::exception_ptr failure;
  auto const attempt = [&](auto write) {
    try {
      write();
    } catch (...) {
      if (!failure) failure = std::current_exception();
    }
  };
  attempt([&] { write_checkpoint(); });
  if (all) attempt([&] { persist::write_model(outputs_.save, model()); });
  attempt([&] { write_report(); });
  if (failure) std::rethrow_exception(failure);
  progress_.finish();
}

void Trainer::write_report() {
  if (recent_ > 0) add_point();
  if (outputs_.report.empty() || loss_curve_.y.empty()) return;
  std::vector<data::Chart> charts{{"Loss", "epochs", "", {loss_curve_}}};
  if (test_) charts[0].curves.push_back(test_loss_curve_);
  if (labels_) charts.push_back({"Accuracy", "epochs", "", {accuracy_curve_}});
  if (labels_ && test_) charts[1].curves.push_back(test_accuracy_curve_);
  data::write_svg(outputs_.report, charts);
}

std::string Trainer::label() const {
  return "epoch " + std::to_string(run_.epoch + 1) + "/" + std::to_string(run_.epochs);
}

}  // namespace coldpress::command
