// The table of confusions, and the samples that the network judged worst.
#include "numbers.hpp"
#include "picture.hpp"
#include "report.hpp"

#include <coldpress/evaluators/confusion_matrix.hpp>

#include <algorithm>
#include <map>

namespace coldpress::train::detail {
namespace {

constexpr Index most_classes = 40;
constexpr std::size_t most_pairs = 6;

std::string cell(std::string const& attributes, std::string const& content) {
  return "<td" + attributes + ">" + content + "</td>";
}
std::string percent(Index part, Index whole) {
  return whole == 0 ? "" : fixed(100 * static_cast<double>(part) / static_cast<double>(whole), 1) + "\u2009%";
}

}  // namespace

std::string Judgement::name_of(Index label) const {
  if (label == no_class) return "none (NaN)";
  auto const at = static_cast<std::size_t>(label);
  return at < classes.size() ? shown(classes[at]) : std::to_string(label);
}

std::string confusion(Judgement const& judgement) {
  std::map<std::pair<Index, Index>, Index> counts;
  std::map<Index, Index> actual, predicted;
  for (auto const& pair : judgement.pairs) ++counts[pair], ++actual[pair.first], ++predicted[pair.second];
  auto const count = [](auto const& in, auto const& key) {
    auto const found = in.find(key);
    return found == in.end() ? Index{0} : found->second;
  };

  std::string out;
  if (judgement.class_count <= most_classes) {
    out += "<div class=\"scroll\"><table class=\"confusion\"><thead><tr><th>actual \\ predicted</th>";
    for (Index p = 0; p < judgement.class_count; ++p)
      out += "<th scope=\"col\"><span>" + judgement.name_of(p) + "</span></th>";
    out += "<th class=\"sum\">found</th></tr></thead><tbody>\n";
    for (Index a = 0; a < judgement.class_count; ++a) {
      out += "<tr><th scope=\"row\">" + judgement.name_of(a) + "</th>";
      Index const row = count(actual, a);
      for (Index p = 0; p < judgement.class_count; ++p) {
        Index const n = count(counts, std::pair{a, p});
        double const share = row > 0 ? static_cast<double>(n) / static_cast<double>(row) : 0;
        std::string const title = " title=\"" + judgement.name_of(a) + " taken for " + judgement.name_of(p) + ": " +
                                  std::to_string(n) + " of " + std::to_string(row) + "\"";
        // Errors are rare; the square root makes them visible.
        std::string const style =
            n == 0 ? " class=\"none\""
                   : std::string{" class=\""} + (a == p ? "right" : "wrong") + (share > 0.5 ? " strong" : "") +
                         "\" style=\"--share:" + fixed(a == p ? share : std::sqrt(share), 3) + "\"";
        out += cell(style + title, n == 0 ? "\u00b7" : std::to_string(n));
      }
      out += cell(" class=\"sum\"", percent(count(counts, std::pair{a, a}), row)) + "</tr>\n";
    }
    out += "</tbody><tfoot><tr><th scope=\"row\">right when predicted</th>";
    for (Index p = 0; p < judgement.class_count; ++p)
      out += cell("", percent(count(counts, std::pair{p, p}), count(predicted, p)));
    out += "<td></td></tr></tfoot></table></div>\n";
  }

  std::vector<std::pair<Index, std::pair<Index, Index>>> confused;
  for (auto const& [pair, n] : counts) {
    if (pair.first != pair.second) confused.push_back({n, pair});
  }
  if (confused.empty()) return out + "<p class=\"note\">No sample is taken for another class.</p>\n";
  std::ranges::stable_sort(confused, std::greater{}, &decltype(confused)::value_type::first);
  confused.resize(std::min(confused.size(), most_pairs));
  out += "<p class=\"note\">Confused most often: ";
  for (std::size_t i = 0; i < confused.size(); ++i) {
    auto const& [n, pair] = confused[i];
    out += (i > 0 ? ", " : "") + judgement.name_of(pair.first) + " taken for " + judgement.name_of(pair.second) + " (" +
           std::to_string(n) + ")";
  }
  return out + ".</p>\n";
}

std::string worst_samples(Judgement const& judgement) {
  bool const pictures = channels_of(judgement.shape) > 0;
  auto const classes = [&](Judged const& sample) {
    return "<b>" + judgement.name_of(sample.actual) + "</b>" +
           (sample.actual == sample.predicted ? " (right)"
                                              : ", taken for <b>" + judgement.name_of(sample.predicted) + "</b>");
  };
  if (!pictures) {
    std::string out = "<div class=\"scroll\"><table><thead><tr><th>sample</th><th class=\"number\">loss</th>";
    out += judgement.labels ? "<th>class</th></tr></thead><tbody>\n" : "</tr></thead><tbody>\n";
    for (Judged const& sample : judgement.worst) {
      out += "<tr>" + cell("", std::to_string(sample.number)) + cell(" class=\"number\"", rounded(sample.loss));
      out += (judgement.labels ? cell("", classes(sample)) : "") + "</tr>\n";
    }
    return out + "</tbody></table></div>\n";
  }
  std::string out = "<div class=\"pictures\">\n";
  for (Judged const& sample : judgement.worst) {
    out += "<figure><img alt=\"sample " + std::to_string(sample.number) + "\" src=\"data:image/png;base64," +
           base64(png(judgement.shape, sample.values)) + "\"/><figcaption>";
    if (judgement.labels) out += classes(sample) + "<br/>";
    out += "<span>loss " + rounded(sample.loss, 3) + " \u00b7 no. " + std::to_string(sample.number) +
           "</span></figcaption></figure>\n";
  }
  return out + "</div>\n";
}

}  // namespace coldpress::train::detail
