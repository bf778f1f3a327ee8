// Text inside SVG and HTML.
#pragma once

#include <string>
#include <string_view>

namespace coldpress::data {

/// The text as content or as an attribute's value in XML and HTML. ASCII control characters become spaces.
inline std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  return out;
}

}  // namespace coldpress::data
