#include "polyad/io/bytes/near_name.hpp"

#include <algorithm>
#include <string_view>
#include <system_error>
#include <vector>

#include "polyad/base/suggestion.hpp"

namespace polyad::io {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_names = 10000;  // of a folder; no name is sought beyond

// Sorted, so that the same is suggested on every file system.
std::vector<fs::path> names_beside(const fs::path& folder) {
  std::vector<fs::path> names;
  std::error_code fault;
  for (fs::directory_iterator entry(folder.empty() ? "." : folder, fault), end;
       !fault && entry != end && names.size() < max_names; entry.increment(fault))
    names.push_back(entry->path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::string near_name(const fs::path& path) {
  const auto name = path.filename();
  if (name.empty()) return "";
  const auto before = name == path ? "" : path.parent_path().string() + "/";
  const auto extension = name.extension();
  std::vector<std::string> alike;
  for (const auto& other : names_beside(path.parent_path())) {
    if (other.extension() == extension) alike.push_back(other.stem().string());
    if (other.string().starts_with(name.string() + "."))
      return " (did you mean " + before + other.string() + "?)";
  }
  const auto found = suggestion(name.stem().string(), alike);
  if (found.empty()) return "";
  constexpr std::string_view head = " (did you mean ", tail = "?)";
  const auto stem = found.substr(head.size(), found.size() - head.size() - tail.size());
  return std::string(head) + before + stem + extension.string() + std::string(tail);
}

}  // namespace polyad::io
