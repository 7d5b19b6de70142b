#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "polyad/io/bytes/checksum.hpp"
#include "polyad/io/checkpoints/checkpoint_manifest.hpp"
#include "polyad/io/checkpoints/checkpoint_parts.hpp"
#include "tests/fuzz/fuzz_file.hpp"

namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// With the checksum of what it holds, so that it is not refused for its checksum. Empty: it is no JSON
// object.
std::string with_checksum(const std::string& text) {
  const auto refuse_depth = [](int depth, Json::parse_event_t, Json&) { return depth <= 8; };
  auto json = Json::parse(text, refuse_depth, false);
  if (!json.is_object()) return {};
  json.erase("checksum");
  json["checksum"] = fmt::format("{:016x}", polyad::io::checksum(text_of(json)));
  return text_of(json);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace polyad;
  const fuzz::MemoryFile file(bytes, size);
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  fuzz::expect_sound([&] { io::parse_manifest(text, "manifest.json"); });
  if (const auto whole = with_checksum(text); !whole.empty())
    fuzz::expect_sound([&] { io::parse_manifest(whole, "manifest.json"); });
  fuzz::expect_sound([&] {
    const std::filesystem::path path = file.path();
    io::CheckpointPartReader part(path.parent_path(), {path.filename().string(), Index(size), 0});
    while (part.next()) {
    }
  });
  return 0;
}
