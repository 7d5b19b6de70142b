#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

namespace polyad::test {

// What is wrong with a page as XML, or nothing: tags must nest, attributes be quoted, & begin an entity.
inline std::string fault_of(const std::string& page) {
  std::vector<std::string> open;
  const auto is_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-'; };
  for (std::size_t at = page.find("<html"); at < page.size();) {
    if (page[at] == '&' && page.substr(at, 12).find(';') == std::string::npos) return page.substr(at, 40);
    if (page[at] != '<') {
      ++at;
      continue;
    }
    const auto end = page.find('>', at);
    if (end == std::string::npos || page.find('<', at + 1) < end) return page.substr(at, 40);
    std::string tag = page.substr(at + 1, end - at - 1);
    if (std::ranges::count(tag, '"') % 2 != 0) return tag;
    const bool closes = tag.starts_with('/');
    const auto name_end = std::find_if_not(tag.begin() + (closes ? 1 : 0), tag.end(), is_name);
    const std::string name(tag.begin() + (closes ? 1 : 0), name_end);
    if (closes && (open.empty() || open.back() != name)) return tag;
    if (closes)
      open.pop_back();
    else if (!tag.ends_with('/'))
      open.push_back(name);
    at = end + 1;
  }
  return open.empty() ? "" : open.back() + " is not closed";
}

inline std::size_t count_of(const std::string& page, const std::string& part) {
  std::size_t count = 0;
  for (auto at = page.find(part); at != std::string::npos; at = page.find(part, at + 1)) ++count;
  return count;
}

}  // namespace polyad::test
