// Runs the loop over minibatches, calls what is due, and saves and resumes the whole training.
#include <coldpress/train/trainer.hpp>

#include <coldpress/core/counted.hpp>
#include <coldpress/core/fingerprint.hpp>

#include <algorithm>
#include <chrono>

namespace coldpress::train {
namespace {

constexpr std::uint64_t values_of_loss = 400;  // about how many there are in a run
constexpr std::string_view own_state = "trainer", average_state = "average";

/// a * b, limited so that there is room to count further.
Index product(Index a, Index b) {
  constexpr Index greatest = Index{1} << 62;
  return a <= greatest / b ? a * b : greatest;
}

TrainerOptions checked(TrainerOptions const& options) {
  if (options.epochs < 1)
    throw ConfigError{"Trainer: epochs must be at least 1, got " + std::to_string(options.epochs)};
  check_numbers(Monitoring{.average = options.average});
  return options;
}

persist::State const* find(persist::Checkpoint const& checkpoint, std::string_view name) {
  auto const found = std::ranges::find(checkpoint.states, name, &persist::NamedState::name);
  return found == checkpoint.states.end() ? nullptr : &found->state;
}

}  // namespace

TrainerOptions Trainer::fitted(TrainerOptions options, data::Source const& source) {
  options.transforms = data::fit(std::move(options.transforms), source);
  return options;
}

Trainer::Trainer(std::unique_ptr<AnySolver> solver, std::unique_ptr<data::SampleStream> stream, TrainerOptions options)
    : solver_(std::move(solver)),
      options_(checked(options)),
      epoch_size_(stream->size()),
      batches_(prepare(std::move(stream)), options.prefetch),
      average_(options.average) {
  auto const per_epoch = static_cast<std::uint64_t>((epoch_size_ + options_.batch - 1) / options_.batch);
  auto all = static_cast<std::uint64_t>(product(static_cast<Index>(per_epoch), options_.epochs));
  if (options_.steps > 0) all = std::min(all, options_.steps);
  record_every_ = options_.record_every > 0 ? options_.record_every : std::max<std::uint64_t>(1, all / values_of_loss);
}

Trainer::~Trainer() = default;

data::Batches Trainer::prepare(std::unique_ptr<data::SampleStream> stream) {
  data::Transforms const& transforms = options_.transforms;
  if (!transforms.empty()) stream = data::augmented(std::move(stream), transforms, options_.seed);
  bool const mixes = std::ranges::any_of(
      transforms, [](auto const& transform) { return std::holds_alternative<data::Mixup>(transform); });
  if (mixes && solver_->takes_labels())
    throw ConfigError{
        "mixup mixes targets, but the loss takes labels; put oneHot in front of mixup, and use a loss of "
        "values"};
  check_samples(stream->sample_shape(), joined_shape(inputs_of(solver_->inputs(), false)));
  labels_ = has_classes(stream->target_shape());
  if (!options_.ranks) return {std::move(stream), options_.batch};
  solver_->distribute_over(options_.ranks);
  int const rank = options_.ranks->rank(), ranks = options_.ranks->size();
  hits_.resize(2 * static_cast<std::size_t>(ranks));
  microbatch_ = solver_->microbatch();
  own_part_ = [microbatch = microbatch_, rank, ranks](Index batch) {
    Range const own = samples_of_rank(batch, microbatch, rank, ranks);
    return data::Batches::Part{own.begin, own.count()};
  };
  return {std::move(stream), options_.batch, own_part_};
}

bool Trainer::has_classes(Shape const& targets) const {
  bool const one_hot = std::ranges::any_of(
      options_.transforms, [](auto const& transform) { return std::holds_alternative<data::OneHot>(transform); });
  return solver_->has_labels(targets) || (one_hot && targets.size() == solver_->output_shape().size());
}

void Trainer::add(std::unique_ptr<detail::AnyCallback> callback) {
  std::string const& name = callback->name;
  if (running_) throw ConfigError{"callbacks cannot be added while the trainer runs"};
  bool const taken = name == own_state || name == average_state ||
                     std::ranges::any_of(callbacks_, [&](auto const& other) { return other->name == name; });
  if (callback->has_state() && name.empty()) throw ConfigError{"a callback with a state needs a name"};
  if (!name.empty() && taken) throw ConfigError{"there is already a callback with the name '" + name + "'"};
  if (callback->reads_batch && own_part_) batches_.read_whole();
  auto const place = std::ranges::find_if(callbacks_, [&](auto const& other) { return other->turn > callback->turn; });
  callbacks_.insert(place, std::move(callback));
}

void Trainer::stop(std::string why) { asked_ = std::move(why); }

bool Trainer::done() const {
  return batches_.position().epoch >= static_cast<std::uint64_t>(options_.epochs) ||
         (options_.steps > 0 && iteration() >= options_.steps);
}

void Trainer::run() {
  why_.clear(), asked_.reset(), ended_ = false;
  struct Running {
    bool& flag;
    ~Running() { flag = false; }
  } const running{running_ = true};
  for (auto const& callback : callbacks_) callback->begin(*this);
  compare_callbacks();
  if (timed_) {
    double const start = time();
    for (auto const& callback : callbacks_) callback->last = start;
  }
  while (!done() && !asked_) {
    step();
    call_due();
  }
  if (asked_) why_ = *asked_;
  solver_->check_finite();
  ended_ = true;
  if (!statistics_.find("training/loss") && recent_.samples() > 0) record();
  gather_for([](detail::AnyCallback const& callback) { return callback.when.end; });
  for (bool const saves : {true, false}) {
    for (auto const& callback : callbacks_) {
      if (callback->when.end && (callback->turn == detail::Turn::saves) == saves) callback->call(*this);
    }
  }
}

void Trainer::step() {
  auto const start = std::chrono::steady_clock::now();
  if (own_part_ && solver_->microbatch() != microbatch_)
    throw ConfigError{"Trainer: the solver's microbatch was " + std::to_string(microbatch_) +
                      " when the ranks began, and is now " + std::to_string(solver_->microbatch())};
  if (epoch_over_) loss_ = accuracy_ = {}, epoch_over_ = false;
  batch_ = batches_.next();
  try {
    last_loss_ = solver_->train(batch_.samples, batch_.targets);
  } catch (...) {
    batches_.seek(batch_.position);
    throw;
  }
  epoch_over_ = batch_.ends_epoch;
  auto const updates = iteration() % static_cast<std::uint64_t>(solver_->accumulate()) == 0;
  average_.add(*solver_, updates, epoch_over_ ? static_cast<Index>(batch_.position.epoch) + 1 : 0);
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  loss_.add(last_loss_, batch_.size);
  recent_.add(last_loss_, batch_.size);
  if (labels_) count_hits();
  if (iteration() % record_every_ == 0) record();
  if (!epoch_over_) return;
  statistics_.add("training/loss_epoch", iteration(), loss_.value());
  if (accuracy_.samples() > 0) statistics_.add("training/accuracy", iteration(), accuracy_.value());
}

void Trainer::count_hits() {
  auto const [first, count] = own_part_ ? own_part_(batch_.size) : data::Batches::Part{0, batch_.size};
  auto const part_of = [&, from = first, number = count](Values values) {
    std::size_t const each = values.size() / static_cast<std::size_t>(batch_.size);
    return values.subspan(static_cast<std::size_t>(from) * each, static_cast<std::size_t>(number) * each);
  };
  auto [samples, right] =
      count > 0 ? hits(part_of(solver_->output()), part_of(batch_.targets), count, one_line(solver_->output_shape()))
                : Hits{};
  if (Communicator* const ranks = options_.ranks) {
    auto const own = 2 * static_cast<std::size_t>(ranks->rank());
    hits_[own] = samples, hits_[own + 1] = right;
    ranks->share(hits_.data(), [](int rank) { return 2 * static_cast<std::size_t>(rank) * sizeof(Index); });
    samples = right = 0;
    for (std::size_t i = 0; i < hits_.size(); i += 2) samples += hits_[i], right += hits_[i + 1];
  }
  if (samples > 0) accuracy_.add(static_cast<double>(right) / static_cast<double>(samples), samples);
}

void Trainer::record() {
  statistics_.add("training/loss", iteration(), recent_.value());
  statistics_.add("learning_rate", iteration(), static_cast<double>(solver_->learning_rate()));
  recent_ = {};
}

void Trainer::compare_callbacks() {
  struct Facts {
    std::uint64_t timed, together, due;
  };
  Facts own{};
  Fingerprint due;
  for (auto const& callback : callbacks_) {
    When const& when = callback->when;
    if (when.seconds > 0) own.timed = 1;
    if (!callback->on_all_ranks) continue;
    ++own.together;
    due.word(when.steps).word(when.epochs).word(bits_of(when.seconds)).word(when.end);
  }
  own.due = due.number;
  timed_ = own.timed > 0;
  Communicator* const ranks = options_.ranks;
  if (!ranks) return;
  std::vector<Facts> all(static_cast<std::size_t>(ranks->size()));
  all[static_cast<std::size_t>(ranks->rank())] = own;
  ranks->share(all.data(), [](int rank) { return static_cast<std::size_t>(rank) * sizeof(Facts); });
  for (std::size_t r = 0; r < all.size(); ++r) {
    timed_ = timed_ || all[r].timed > 0;
    if (all[r].together == all[0].together && all[r].due == all[0].due) continue;
    throw MismatchError{"callbacks that belong on all ranks, such as a validation: rank " + std::to_string(r) +
                        " has " + std::to_string(all[r].together) + ", and rank 0 " + std::to_string(all[0].together) +
                        (all[r].together == all[0].together ? ", which are due after other steps" : "")};
  }
}

double Trainer::time() const {
  double now = options_.clock
                   ? options_.clock()
                   : std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  if (options_.ranks) options_.ranks->broadcast(&now, sizeof now);
  return now;
}

/// Gathers the optimizer's state, if ranks divide it, where a callback of rank 0 that is due reads it.
template <class Due>
void Trainer::gather_for(Due due) {
  if (!options_.ranks || !solver_->shards_optimizer()) return;
  bool reads =
      std::ranges::any_of(callbacks_, [&](auto const& callback) { return callback->reads_state && due(*callback); });
  options_.ranks->broadcast(&reads, sizeof reads);
  if (reads) solver_->gather_state(false);
}

void Trainer::call_due() {
  double const now = timed_ ? time() : 0;
  auto const clock = [&](detail::AnyCallback const& callback) {
    return callback.when.seconds > 0 && now - callback.last >= callback.when.seconds;
  };
  auto const due = [&](detail::AnyCallback const& callback) {
    When const& when = callback.when;
    return clock(callback) || (when.steps > 0 && iteration() % when.steps == 0) ||
           (when.epochs > 0 && epoch_over_ && (batch_.position.epoch + 1) % when.epochs == 0);
  };
  gather_for(due);
  for (auto const& callback : callbacks_) {
    if (!due(*callback)) continue;
    if (clock(*callback)) callback->last = now;
    callback->call(*this);
  }
}

double Trainer::epochs_done() const { return static_cast<double>(samples_done()) / static_cast<double>(epoch_size_); }
double Trainer::epochs_done_at(std::uint64_t iteration) const {
  auto const [epoch, offset] = batches_.position();
  Index const in_epoch = (epoch_size_ - 1) / options_.batch + 1;  // steps
  auto const back = static_cast<Index>(this->iteration() - iteration);
  Index const steps =
      product(static_cast<Index>(epoch), in_epoch) + (offset + options_.batch - 1) / options_.batch - back;
  if (steps <= 0) return 0;
  Index const samples = std::min(steps % in_epoch * options_.batch, epoch_size_);
  return static_cast<double>(steps / in_epoch) + static_cast<double>(samples) / static_cast<double>(epoch_size_);
}
Index Trainer::samples() const { return product(epoch_size_, options_.epochs); }
Index Trainer::samples_done() const {
  auto const [epoch, offset] = batches_.position();
  return epoch >= static_cast<std::uint64_t>(options_.epochs)
             ? samples()
             : product(static_cast<Index>(epoch), epoch_size_) + offset;
}

Score Trainer::epoch_score() const {
  auto const value = [](Mean const& mean) { return mean.samples() > 0 ? std::optional{mean.value()} : std::nullopt; };
  return {value(loss_), value(accuracy_)};
}

Score Trainer::judge(data::Source const& source, std::function<void(data::Batches::Batch const&, Values)> const& each,
                     Communicator* ranks) {
  data::check_classes(source, classes_);
  auto const transformed = data::transformed(source, options_.transforms);
  auto const score_of_solver = [&] {
    Evaluated judged = evaluated(*solver_);
    if (has_classes(transformed->target_shape())) judged.classes = one_line(solver_->output_shape());
    return train::evaluate(judged, *transformed, options_.batch, each, ranks);
  };
  if (average_.empty()) return score_of_solver();
  persist::Model const own = solver_->model();
  solver_->load(average_.applied(own));
  try {
    Score const score = score_of_solver();
    solver_->load(own);
    return score;
  } catch (...) {
    solver_->load(own);
    throw;
  }
}

persist::Model Trainer::model() const {
  persist::Model model = average_.applied(solver_->model());
  model.transforms = options_.transforms;
  model.classes = classes_;
  return model;
}

void Trainer::load(persist::Model const& model) {
  solver_->load(model);
  average_ = detail::Averaged{options_.average};
}

persist::Checkpoint Trainer::checkpoint() const {
  persist::Checkpoint checkpoint = solver_->checkpoint();
  checkpoint.epochs = options_.epochs;
  checkpoint.batch = options_.batch;
  checkpoint.seed = options_.seed;
  checkpoint.epoch = batches_.position().epoch;
  checkpoint.position = static_cast<std::uint64_t>(batches_.position().offset);
  checkpoint.monitoring.average = options_.average;
  checkpoint.model.transforms = options_.transforms;
  checkpoint.model.classes = classes_;
  checkpoint.statistics = statistics_.all();
  checkpoint.states.push_back({std::string{own_state}, state()});
  if (options_.average.kind != WeightAverage::Kind::none)
    checkpoint.states.push_back({std::string{average_state}, average_.state(checkpoint.model)});
  for (auto const& callback : callbacks_) {
    if (callback->has_state()) checkpoint.states.push_back({callback->name, callback->state()});
  }
  checkpoint.states.insert(checkpoint.states.end(), unclaimed_.begin(), unclaimed_.end());
  return checkpoint;
}

void Trainer::resume(persist::Checkpoint const& checkpoint) {
  auto const check = [](char const* what, auto wanted, auto found) {
    if (wanted != found) {
      throw MismatchError{std::string{"the checkpoint was made with "} + what + " " + std::to_string(found) + ", not " +
                          std::to_string(wanted)};
    }
  };
  check("batch", options_.batch, checkpoint.batch);
  check("seed", options_.seed, checkpoint.seed);
  persist::State const* const own = find(checkpoint, own_state);
  if (own) {
    check_state(own_state, *own, std::clamp<std::size_t>(own->numbers.size(), 8, 9));  // the ninth was added later
    for (std::size_t i = 2; i < own->numbers.size(); i += 2) (void)count_in(own_state, own->numbers[i]);
    if (own->numbers.size() == 9 && own->numbers[8] != static_cast<double>(epoch_size_)) {
      throw MismatchError{"the checkpoint was made with " + counted(count_in(own_state, own->numbers[8]), "sample") +
                          ", but there are " + std::to_string(epoch_size_)};
    }
  }
  if (checkpoint.position >= static_cast<std::uint64_t>(epoch_size_)) {
    throw MismatchError{"the position in the data is " + std::to_string(checkpoint.position) + ", but there " +
                        (epoch_size_ == 1 ? "is " : "are ") + counted(epoch_size_, "sample")};
  }
  std::vector<persist::NamedState> unclaimed = checkpoint.states;
  std::erase_if(unclaimed, [](auto const& of) { return of.name == own_state || of.name == average_state; });
  for (auto const& callback : callbacks_) {
    callback->prepare(callback->has_state() ? find(checkpoint, callback->name) : nullptr);
    std::erase_if(unclaimed, [&](auto const& of) { return callback->has_state() && of.name == callback->name; });
  }
  if (!classes_.empty() && !checkpoint.model.classes.empty() && classes_ != checkpoint.model.classes)
    throw MismatchError{"the classes of the data are not those of the checkpoint, or in another order"};
  if (checkpoint.model.transforms != options_.transforms)
    throw MismatchError{"the checkpoint was made with other transforms of the samples"};
  detail::Averaged average{options_.average};
  persist::State const* const averaged = find(checkpoint, average_state);
  if ((options_.average.kind != WeightAverage::Kind::none) != (averaged != nullptr)) {
    throw MismatchError{averaged ? "the checkpoint has an average of the weights, the training has none"
                                 : "the training has an average of the weights, the checkpoint has none"};
  }
  if (averaged) average.restore(*averaged, checkpoint.model);
  solver_->resume(checkpoint);
  for (auto const& callback : callbacks_) callback->accept();
  unclaimed_ = std::move(unclaimed);
  average_ = std::move(average);
  batches_.seek({checkpoint.epoch, static_cast<Index>(checkpoint.position)});
  statistics_.assign(checkpoint.statistics);
  if (own) restore(*own);
}

persist::State Trainer::state() const {
  auto const count = [](Mean const& mean) { return static_cast<double>(mean.samples()); };
  return {.numbers = {static_cast<double>(solver_->base_rate()), loss_.sum(), count(loss_), accuracy_.sum(),
                      count(accuracy_), recent_.sum(), count(recent_), epoch_over_ ? 1.0 : 0.0,
                      static_cast<double>(epoch_size_)}};
}

void Trainer::restore(persist::State const& state) {
  auto const mean = [&](std::size_t i) { return Mean{state.numbers[i], count_in(own_state, state.numbers[i + 1])}; };
  solver_->set_base_rate(static_cast<float>(state.numbers[0]));
  loss_ = mean(1), accuracy_ = mean(3), recent_ = mean(5);
  epoch_over_ = state.numbers[7] != 0;
}

}  // namespace coldpress::train
