#include <coldpress/coldpress.hpp>
#include <coldpress/train.hpp>

#include "train/run_python.hpp"
#include "train/task.hpp"

#include <algorithm>

namespace coldpress::train {
namespace {

/// Pictures of three classes. Each class has its stripe at another place, and the noise follows from the number of the
/// picture. The names of the classes are hostile.
data::Dataset stripes(Index size) {
  data::Dataset dataset{.sample_shape = {1, 6, 6}, .target_shape = {1}};
  dataset.classes = {"<script>alert(1)</script>", "\"'&</td>", "\x1b[31mred"};
  for (Index n = 0; n < size; ++n) {
    Index const label = n * 7 % 3;
    for (Index i = 0; i < 36; ++i) {
      float const noise = static_cast<float>((n * 31 + i * 17) % 13) / 13;
      dataset.samples.push_back(0.6f * noise + (i / 12 == label ? 0.4f : 0));
    }
    dataset.targets.push_back(static_cast<float>(n % 11 == 0 ? (label + 1) % 3 : label));
  }
  return dataset;
}

using Classifier = Network<Sequential<Convolution{4, 3}, ReLU{}, Linear{3}, LogSoftmax{}>, Shape{1, 6, 6}>;
using ClassifierSolver = coldpress::Solver<Classifier, NegativeLogLikelihood{3}, Sgd{.learning_rate = 0.05f}>;

int count(std::string const& text, std::string_view part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

struct Classification {
  std::unique_ptr<data::Source> training = data::own(stripes(150)), validation = data::own(stripes(60));
  std::unique_ptr<Classifier> net = std::make_unique<Classifier>(7);
  std::unique_ptr<ClassifierSolver> solver = std::make_unique<ClassifierSolver>(*net);
  Trainer trainer{*solver, *training, {.epochs = 3, .batch = 10}};
  explicit Classification(std::string const& path) {
    trainer.every(epochs(1), Validation{*validation, "<b>&\"validation\""});
    trainer.every(epochs(1), HtmlReport{path,
                                        {.title = "Stripes </title><script>",
                                         .configuration = "batch = 10  # </pre><script>\nepochs = 3",
                                         .validation = validation.get(),
                                         .worst = 5}});
  }
};

TEST_CASE("a report is balanced HTML, complete, and needs no other file") {
  TemporaryFolder const folder;
  std::string const path = folder / "report.html";
  Classification run{path};
  run.trainer.run();
  std::string const page = content(path);
  CHECK(count(page, "<script") == 2);  // the curves and the script that draws them
  CHECK(count(page, "<img ") == 5);
  CHECK_FALSE(contains(page, "http-equiv=\"refresh\""));
  CHECK_FALSE(contains(page, "\x1b"));
  auto const lines = lines_of_script("check_html.py", "'" + path + "'");
  if (!lines) {
    WARN("skipped: there is no python3");
    return;
  }
  auto const has = [&](std::string const& line) { return std::ranges::find(*lines, line) != lines->end(); };
  CHECK(has("chart Loss training/loss 45"));
  CHECK(has("chart Loss training/loss_epoch 3"));
  CHECK(has("chart Loss <b>&\"validation\"/loss 3"));
  CHECK(has("chart Accuracy training/accuracy 3"));
  CHECK(has("chart Learning rate learning_rate 45"));
  CHECK(has("text Stripes </title><script>"));
  CHECK(has("text batch = 10 # </pre><script> epochs = 3"));
  CHECK(has("text <script>alert(1)</script>"));
  CHECK(has("text \"'&</td>"));
  CHECK(has("text \\x1b[31mred"));
  // 4 filters of 3 x 3 and 4 biases; 3 outputs of 4 planes of 4 x 4, and 3 biases.
  CHECK(has("text 40"));
  CHECK(has("text 195"));
  CHECK(has("text 235"));
  // Convolution and ReLU are one pass, Linear and LogSoftmax two.
  CHECK(has("text forward"));
  CHECK(has("text backward"));
  CHECK(has("text with convolution1"));
  CHECK(std::ranges::count_if(*lines, [](std::string const& line) { return line.ends_with("\u00b5s"); }) >= 8);
}

TEST_CASE("a report without times of layers has no columns for them") {
  TemporaryFolder const folder;
  Task const data = task(100);
  Typed net;
  Trainer trainer{*net.solver, *data.training, {.epochs = 1, .batch = 16}};
  trainer.every(end(), HtmlReport{folder / "with.html"});
  trainer.every(end(), HtmlReport{folder / "without.html", {.layer_times = false}});
  trainer.run();
  CHECK(contains(content(folder / "with.html"), ">backward</th>"));
  CHECK_FALSE(contains(content(folder / "without.html"), ">backward</th>"));
}

TEST_CASE("the confusion matrix and the worst samples are those of the network") {
  TemporaryFolder const folder;
  std::string const path = folder / "report.html";
  Classification run{path};
  run.trainer.run();
  std::map<std::pair<Index, Index>, int> counts;
  std::vector<std::pair<double, Index>> losses;
  data::Dataset const data = data::load(*run.validation);
  for (Index n = 0; n < 60; ++n) {
    auto const scores = run.net->forward(std::span{data.samples}.subspan(static_cast<std::size_t>(36 * n), 36)).values;
    auto const best = std::max_element(scores.begin(), scores.end()) - scores.begin();
    auto const label = static_cast<Index>(data.targets[static_cast<std::size_t>(n)]);
    ++counts[{label, best}];
    losses.emplace_back(-static_cast<double>(scores[static_cast<std::size_t>(label)]), n);
  }
  std::string const page = content(path);
  std::string const names[] = {"&lt;script&gt;alert(1)&lt;/script&gt;", "&quot;&#39;&amp;&lt;/td&gt;", "\\x1b[31mred"};
  for (auto const& [pair, n] : counts) {
    CHECK(contains(page, names[pair.first] + " taken for " + names[pair.second] + ": " + std::to_string(n) + " of "));
  }
  std::ranges::stable_sort(losses, std::greater{}, &std::pair<double, Index>::first);
  std::size_t at = 0;
  for (std::size_t i = 0; i < 5; ++i) {
    at = page.find("no. " + std::to_string(losses[i].second) + "<", at);
    CHECK(at != std::string::npos);
  }
  CHECK(counts.size() > 3);  // it makes mistakes
}

TEST_CASE("a report of a regression without validation has curves, layers and the plan") {
  TemporaryFolder const folder;
  Task const data = task(100);
  Dynamic net;
  Trainer trainer{*net.solver, *data.training, {.epochs = 2, .batch = 16}};
  trainer.every(end(), HtmlReport{folder / "report.html"});
  trainer.run();
  std::string const page = content(folder / "report.html");
  CHECK(contains(page, "class=\"plan\""));
  CHECK_FALSE(contains(page, "Which classes are confused"));
  // The norm of the first weight and bias, from the model itself.
  double sum = 0;
  auto const weights = trainer.model().weights;
  for (std::size_t i = 0; i < 2; ++i)
    for (float const value : weights[i].values) sum += static_cast<double>(value) * static_cast<double>(value);
  char text[32];
  std::snprintf(text, sizeof text, ">%.4g<", std::sqrt(sum));
  CHECK(contains(page, text));
  auto const lines = lines_of_script("check_html.py", "'" + folder / "report.html" + "'");
  if (!lines) {
    WARN("skipped: there is no python3");
    return;
  }
  CHECK(std::ranges::find(*lines, "text 33") != lines->end());  // all parameters
}

TEST_CASE("a regression's worst samples are a table, and its targets are no classes") {
  TemporaryFolder const folder;
  Task const data = task(100);
  Typed net;
  Trainer trainer{*net.solver, *data.training, {.epochs = 2, .batch = 16}};
  trainer.every(end(), HtmlReport{folder / "report.html", {.validation = data.validation.get(), .worst = 3}});
  trainer.run();
  std::string const page = content(folder / "report.html");
  CHECK(contains(page, "<h2>Samples with the highest loss</h2>"));
  CHECK_FALSE(contains(page, "<img"));
}

TEST_CASE("in Chromium, the script draws the curves without an error") {
  char const* browser = nullptr;
  for (char const* const name : {"chromium", "chromium-browser", "google-chrome"}) {
    if (!browser && std::system((std::string{"command -v "} + name + " > /dev/null").c_str()) == 0) browser = name;
  }
  if (!browser) {
    WARN("skipped: there is no chromium");
    return;
  }
  TemporaryFolder const folder;
  Classification run{folder / "report.html"};
  run.trainer.run();
  // A dialog, if text from data became a script, would wait for ever.
  std::string const command = "timeout 120 env HOME='" + folder / "" + "' " + browser +
                              " --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --enable-logging=stderr"
                              " --virtual-time-budget=2000 --dump-dom 'file://" +
                              folder / "report.html" + "' > '" + folder / "dom" + "' 2> '" + folder / "log" + "'";
  REQUIRE(std::system(command.c_str()) == 0);
  std::string const dom = content(folder / "dom"), log = content(folder / "log");
  CHECK(count(dom, "<path class=\"curve\"") == 6);  // loss has three, accuracy two, the rate one
  CHECK(count(dom, "<section class=\"card chart\"") == 3);
  CHECK_FALSE(contains(log, "CONSOLE"));
}

TEST_CASE("what observes a training changes no bit of it, and a resumed one continues as if it had not been observed") {
  TemporaryFolder const folder;
  Task const data = task(100);
  TrainerOptions const options{.epochs = 4, .batch = 16, .average = {.kind = WeightAverage::Kind::ema, .decay = 0.9f}};
  auto const observe = [&](Trainer& trainer) {
    trainer.every(steps(2), CsvLog{folder / "log.csv"});
    trainer.every(steps(3), TensorBoard{folder / "events"});
    trainer.every(steps(5), HtmlReport{folder / "report.html", {.validation = data.validation.get()}});
    trainer.every(steps(4), Summary{{}, [](std::string_view) {}});
  };
  Dynamic plain, observed, resumed;
  Trainer expected{*plain.solver, *data.training, options};
  expected.run();
  Trainer trainer{*observed.solver, *data.training, options};
  observe(trainer);
  std::string const path = folder / "checkpoint";
  trainer.every(steps(17), Snapshot{path});
  trainer.run();
  CHECK(trainer.model() == expected.model());
  CHECK(trainer.statistics().all() == expected.statistics().all());

  Trainer again{*resumed.solver, *data.training, options};
  observe(again);
  again.resume(persist::read_checkpoint(path));
  again.run();
  CHECK(again.model() == expected.model());
  CHECK(again.statistics().all() == expected.statistics().all());
}

TEST_CASE("a report that cannot be written ends the run, and the training is as it was") {
  TemporaryFolder const folder;
  Task const data = task(100);
  Typed net;
  Trainer trainer{*net.solver, *data.training, {.epochs = 2, .batch = 16}};
  std::string const path = folder / "sub/report.html";
  trainer.every(epochs(1), HtmlReport{path});
  CHECK(contains(message<FileError>([&] { trainer.run(); }), path));
  CHECK(trainer.iteration() == 0);
  std::filesystem::create_directory(folder / "sub");
  trainer.run();
  CHECK(std::filesystem::exists(path));
  CHECK_THROWS_AS(HtmlReport{""}, ConfigError);
  CHECK_THROWS_AS((HtmlReport{"x", {.worst = -1}}), ConfigError);
}

}  // namespace
}  // namespace coldpress::train
