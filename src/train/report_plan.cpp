// The table of layers, and the drawing of groups and of their place in memory.
#include "numbers.hpp"
#include "report.hpp"

#include <coldpress/core/counted.hpp>
#include <coldpress/core/to_string.hpp>

#include <algorithm>

namespace coldpress::train::detail {
namespace {

// All lengths are in pixels.
constexpr double row = 30, top = 44, boxes = 74, box_width = 300, memory = 420, memory_width = 430, width = 880;

std::string pixel(double value) { return fixed(value, 1); }

std::string name_of(Description const& description, std::size_t node) {
  std::string const& name = description.rows[node].name;
  return name.empty() ? "input" : name;
}
/// At most 26 characters, so that a shape fits beside it.
std::string shortened(std::string const& name) {
  constexpr std::size_t most = 26;
  if (name.size() <= most) return name;
  std::size_t end = most - 1;
  while (end > 0 && (name[end] & 0xc0) == 0x80) --end;
  return name.substr(0, end) + "\u2026";
}
std::string bytes(Description const& description, Index values) {
  auto const size = static_cast<double>(values) * static_cast<double>(description.scalar_size);
  return size < 10240      ? fixed(size, 0) + " B"
         : size < 10485760 ? fixed(size / 1024, 1) + " KiB"
                           : fixed(size / 1048576, 1) + " MiB";
}

/// A time of a pass, with three digits or so.
std::string pass_time(double seconds) {
  bool const is_long = seconds >= 0.001;
  double const value = seconds * (is_long ? 1e3 : 1e6);
  return fixed(value, value < 10 ? 2 : value < 100 ? 1 : 0) + (is_long ? "\u2009ms" : "\u2009\u00b5s");
}

std::string text(double x, double y, std::string const& kind, std::string const& content) {
  return "<text x=\"" + pixel(x) + "\" y=\"" + pixel(y) + "\" class=\"" + kind + "\">" + content + "</text>\n";
}
std::string box(double x, double y, double w, double h, std::string const& more, std::string const& title) {
  return "<rect x=\"" + pixel(x) + "\" y=\"" + pixel(y) + "\" width=\"" + pixel(w) + "\" height=\"" + pixel(h) + "\" " +
         more + "><title>" + title + "</title></rect>\n";
}

}  // namespace

std::string layer_table(Description const& description, LayerFacts const& facts) {
  bool const timed = !facts.times.empty();
  std::string out =
      "<div class=\"scroll\"><table class=\"layers\"><thead><tr><th>layer</th><th>output</th>"
      "<th class=\"number\">parameters</th><th class=\"number\">FLOPs per sample</th>";
  for (char const* const pass : {"forward", "backward"}) {
    if (!timed) continue;
    out += "<th class=\"number\" title=\"the shortest of several runs of these layers by themselves, on one thread\">";
    out.append(pass).append("</th>");
  }
  out +=
      "<th class=\"number\">norm of weights</th><th class=\"number\" title=\"the norm of the change, by that of the "
      "weights\">change in the last " +
      counted(facts.steps, "step") + "</th></tr></thead><tbody>\n";
  Index parameters = 0, flops = 0;
  for (LayerRow const& layer : description.rows) parameters += layer.parameters, flops += layer.flops;
  double forward = 0, backward = 0;
  for (auto const& time : facts.times) {
    if (time) forward += time->forward, backward += time->backward.value_or(0);
  }
  auto const number = [](std::string const& content, double share) {
    std::string const bar = share > 0.01 ? "<i style=\"--share:" + fixed(share, 3) + "\"></i>" : "";
    return "<td class=\"number\">" + bar + content + "</td>";
  };
  auto const share = [](auto part, auto whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
  };
  std::vector<std::optional<std::size_t>> first(facts.times.size());  // the row that has the time of each group
  auto const times_of = [&](std::size_t i) -> std::string {
    int const g = description.group_of[i];
    if (g < 0 || !facts.times[static_cast<std::size_t>(g)]) return "<td></td><td></td>";
    GroupTime const& time = *facts.times[static_cast<std::size_t>(g)];
    auto& leader = first[static_cast<std::size_t>(g)];
    if (leader)
      return "<td class=\"with\" colspan=\"2\">with " + shown(shortened(name_of(description, *leader))) + "</td>";
    leader = i;
    return number(pass_time(time.forward), share(time.forward, forward + backward)) +
           number(time.backward ? pass_time(*time.backward) : "", share(time.backward.value_or(0), forward + backward));
  };
  for (std::size_t i = 0; i < description.rows.size(); ++i) {
    LayerRow const& layer = description.rows[i];
    bool const input = description.nodes[i].kind == Node::Kind::input;
    out +=
        "<tr><th scope=\"row\">" + shown(name_of(description, i)) + "</th><td>" +
        shown(to_string(description.nodes[i].shape)) + "</td>" +
        number(input || layer.parameters == 0 ? "" : grouped(layer.parameters), share(layer.parameters, parameters)) +
        number(input || layer.flops == 0 ? "" : grouped(layer.flops), share(layer.flops, flops));
    if (timed) out += times_of(i);
    if (i < facts.norms.size() && facts.norms[i]) {
      auto const [weights, change] = *facts.norms[i];
      out += number(rounded(weights, 4), 0) +
             number(weights > 0 ? rounded(100 * change / weights, 3) + "\u2009%" : rounded(change, 3), 0);
    } else {
      out += "<td></td><td></td>";
    }
    out += "</tr>\n";
  }
  out += "</tbody><tfoot><tr><th scope=\"row\">all</th><td></td>" + number(grouped(parameters), 0) +
         number(grouped(flops), 0);
  if (timed) out += number(pass_time(forward), 0) + number(pass_time(backward), 0);
  out += "<td></td><td></td></tr></tfoot></table></div>\n";
  if (timed) {
    out += "<p class=\"note\">Times are those of a minibatch of " + grouped(facts.samples) +
           ". Layers that are computed in one pass have one time.</p>\n";
  }
  return out;
}

std::string plan_drawing(Description const& description) {
  auto const& [rows, nodes, groups, group_of, outputs, plan, scalar] = description;
  double const height = top + row * static_cast<double>(nodes.size()) + 16;
  auto const y_of = [](std::size_t node) { return top + row * static_cast<double>(node); };
  std::string out = "<svg class=\"plan\" viewBox=\"0 0 " + pixel(width) + " " + pixel(height) +
                    "\" role=\"img\" aria-label=\"the plan: layers and memory\">\n";
  out += text(boxes, 20, "head", "Layers, and what is computed in one pass");
  out += text(memory, 20, "head",
              "Memory: " + bytes(description, plan.workspace) + " per sample, " + bytes(description, plan.sum) +
                  " without reuse");

  // The last row at which the value of a group is read. The caller's outputs stay to the end.
  std::vector<std::size_t> first(groups.size(), nodes.size()), last(groups.size(), 0), read(groups.size(), 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (group_of[i] < 0) continue;
    auto const g = static_cast<std::size_t>(group_of[i]);
    first[g] = std::min(first[g], i), last[g] = std::max(last[g], i), read[g] = std::max(read[g], last[g]);
    for (int k = 0; k < nodes[i].input_count(); ++k) {
      int const from = group_of[static_cast<std::size_t>(nodes[i].inputs[k])];
      if (from >= 0) read[static_cast<std::size_t>(from)] = std::max(read[static_cast<std::size_t>(from)], i);
    }
  }
  for (std::size_t g = 0; g < static_cast<std::size_t>(plan.groups); ++g) {
    if (groups[g].is_output) read[g] = nodes.size() - 1;
    bool const over = groups[g].value.used() && groups[g].value.first < 0;  // it is written over what it reads
    if (over && first[g] > 0) read[static_cast<std::size_t>(groups[g].edges[0].from)] = first[g] - 1;
    if (first[g] > last[g]) continue;
    out += box(boxes - 6, y_of(first[g]) + 1, box_width + 12, row * static_cast<double>(last[g] - first[g] + 1) - 2,
               "rx=\"7\" class=\"group\"", "pass " + std::to_string(g + 1));
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    double const y = y_of(i);
    std::string const name = name_of(description, i), label = shown(name);
    out += box(boxes, y + 4, box_width, row - 8,
               std::string{"rx=\"4\" class=\""} + (rows[i].parameters > 0 ? "layer weights" : "layer") + "\"",
               label + ": " + grouped(rows[i].parameters) + " parameters");
    out += text(boxes + 10, y + 19, "name", shown(shortened(name)));
    out += text(boxes + box_width - 10, y + 19, "shape", shown(to_string(nodes[i].shape)));
    for (int k = 0; k < nodes[i].input_count(); ++k) {
      auto const from = static_cast<std::size_t>(nodes[i].inputs[k]);
      if (from + 1 == i) continue;  // the layer above
      double const bend = std::min(60.0, 14.0 + 5 * static_cast<double>(i - from));
      double const start = y_of(from) + row / 2, end = y + row / 2;
      out += "<path class=\"edge\" d=\"M" + pixel(boxes) + " " + pixel(start) + "C" + pixel(boxes - bend) + " " +
             pixel(start) + " " + pixel(boxes - bend) + " " + pixel(end) + " " + pixel(boxes) + " " + pixel(end) +
             "\"/>\n";
    }
  }
  out += box(memory, top, memory_width, row * static_cast<double>(nodes.size()), "rx=\"4\" class=\"frame\"",
             bytes(description, plan.workspace));
  double const scale = memory_width / static_cast<double>(std::max<Index>(1, plan.workspace));
  for (std::size_t g = 0; g < static_cast<std::size_t>(plan.groups); ++g) {
    auto const draw = [&](Buffer const& buffer, std::size_t from, std::size_t to, char const* kind,
                          std::string const& what) {
      if (!buffer.used() || buffer.offset < 0 || from > to) return;
      double const x = memory + scale * static_cast<double>(buffer.offset);
      double const w = std::max(1.5, scale * static_cast<double>(buffer.size));
      out += box(x, y_of(from) + 3, w, row * static_cast<double>(to - from + 1) - 6,
                 std::string{"rx=\"3\" class=\"buffer "} + kind + "\"",
                 what + ": " + bytes(description, buffer.size) + " from " + bytes(description, buffer.offset));
      if (w > 6.8 * static_cast<double>(what.size()) + 10) out += text(x + 7, y_of(from) + 19, "inside", what);
    };
    if (groups[g].output < 0 || first[g] > last[g]) continue;
    auto const output = static_cast<std::size_t>(groups[g].output);
    draw(groups[g].value, first[g], read[g], "value", shown(name_of(description, output)));
    draw(groups[g].memory, first[g], last[g], "scratch", "scratch");
  }
  return out + "</svg>\n";
}

}  // namespace coldpress::train::detail
