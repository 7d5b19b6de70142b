#include "polyad/tasks/get_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>

#include "polyad/base/error.hpp"
#include "polyad/base/printable.hpp"
#include "polyad/base/suggestion.hpp"
#include "polyad/io/bytes/download.hpp"
#include "polyad/io/bytes/input_file.hpp"
#include "polyad/io/bytes/output_file.hpp"
#include "polyad/io/bytes/sha256.hpp"
#include "polyad/io/bytes/zip_archive.hpp"
#include "polyad/report/plan_report.hpp"
#include "polyad/tasks/detail/json_text.hpp"
#include "polyad/tasks/detail/task_checks.hpp"
#include "polyad/tasks/detail/task_scope.hpp"

namespace polyad {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t data_step_bytes = std::size_t(1) << 18;

const DataSet& data_set_called(const std::string& name) {
  const auto& sets = public_data_sets();
  const auto found = std::ranges::find(sets, name, &DataSet::name);
  if (found != sets.end()) return *found;
  throw Error(Errc::bad_option, fmt::format("there is no data set {}{} in the list of {}", name,
                                            suggestion(name, data_set_names()), sets.size()));
}

fs::path place_of(const GetDataOptions& options, const std::string& name) {
  return (options.folder / name).lexically_normal();
}

// The words that follow the file in a command that reads it.
std::string reading_options(const DataSet& set) {
  std::string words;
  const auto add = [&words](const char* field, const std::string& value) {
    if (!value.empty()) words += " " + option_name(field) + " " + report::for_shell(value);
  };
  add("LoadOptions::format", set.format);
  add("separator", set.separator);
  add("columns", set.columns);
  add("value", set.value);
  return words;
}

std::vector<std::string> reading_commands(const DataSet& set, const fs::path& path) {
  const auto file = report::for_shell(path.string()) + reading_options(set);
  const auto rank = " " + option_name("rank") + " 8";
  return {"polyad look " + report::for_shell(path.string()), "polyad stats " + file,
          set.has_ratings ? "polyad complete " + file + rank + " " + option_name("test") + " 0.1"
                          : "polyad cpd " + file + rank};
}

// Where a file is downloaded from: its own address, or the folder that POLYAD_MIRROR names.
std::string address_of(const DataFile& file) {
  const char* setting = std::getenv("POLYAD_MIRROR");
  const std::string mirror = setting == nullptr ? "" : setting;
  if (mirror.empty()) return file.address;
  const bool is_web = mirror.starts_with("http://") || mirror.starts_with("https://");
  const bool is_plain = std::ranges::all_of(mirror, [](unsigned char c) { return c > ' ' && c < 0x7F; });
  if (!is_web || !is_plain)
    throw Error(Errc::bad_option, "POLYAD_MIRROR=" + mirror +
                                      ": expected the address of a folder that begins with http:// or "
                                      "https://");
  return mirror + (mirror.ends_with('/') ? "" : "/") + file.name;
}

// How to do without the network, at the end of a message.
std::string by_other_means(const DataFile& file, const fs::path& path, const std::string& address) {
  return fmt::format("; download {} by other means to {} and run this again",
                     address == file.address ? "it" : file.address, path.string());
}

[[noreturn]] void fail_download(const DataFile& file, const fs::path& path, const std::string& address,
                                const std::string& why) {
  throw Error(
      Errc::io,
      fmt::format("cannot be downloaded from {}: {}{}", address, why, by_other_means(file, path, address)),
      {path.string(), 0});
}

[[noreturn]] void fail_contents(const DataFile& file, const fs::path& path, const std::string& address,
                                const std::string& why) {
  throw Error(Errc::bad_input,
              fmt::format("what {} sent is not the published file: {}{}", address, why,
                          by_other_means(file, path, address)),
              {path.string(), 0});
}

// What is wrong with the first bytes of a file, by its name; empty: nothing. Some servers send a page that
// says what went wrong as if it were the file.
std::string fault_of_beginning(const std::string& name, std::string_view bytes) {
  if (name.ends_with(".gz")) return bytes.starts_with("\x1f\x8b") ? "" : "it is no gzip file";
  if (name.ends_with(".zip")) return bytes.starts_with("PK") ? "" : "it is no zip archive";
  return bytes.starts_with('<') ? "it is a web page" : "";
}

struct GotFile {
  const DataFile* file = nullptr;
  fs::path path;
  Index bytes = 0;
  bool is_new = false, is_verified = false;
};

// Looks at the bytes of a file as they come.
class Inspection {
 public:
  explicit Inspection(const DataFile& file) : file_(file) {}

  void add(std::string_view bytes) {
    constexpr std::size_t beginning = 16;
    if (begin_.size() < beginning) begin_ += bytes.substr(0, beginning - begin_.size());
    num_bytes_ += Index(bytes.size());
    if (!file_.sha256.empty()) sha256_.add(bytes);
  }
  Index num_bytes() const { return num_bytes_; }
  // What is wrong with the whole; empty: nothing.
  std::string fault() {
    if (num_bytes_ == 0) return "it is empty";
    if (auto fault = fault_of_beginning(file_.name, begin_); !fault.empty()) return fault;
    if (file_.sha256.empty()) return "";
    const auto sum = sha256_.finish();
    return sum == file_.sha256 ? "" : fmt::format("its SHA-256 is {}, expected {}", sum, file_.sha256);
  }

 private:
  const DataFile& file_;
  std::string begin_;
  io::Sha256 sha256_;
  Index num_bytes_ = 0;
};

// A file that is there. All of it is read only if there is a checksum to compare with.
GotFile keep_file(const DataFile& file, const fs::path& path) {
  const io::InputFile input(path);
  Inspection inspection(file);
  std::string bytes(data_step_bytes, '\0');
  while (const Index got = input.read_some(inspection.num_bytes(), bytes)) {
    inspection.add(std::string_view(bytes).substr(0, std::size_t(got)));
    if (file.sha256.empty()) break;
  }
  if (const auto fault = inspection.fault(); !fault.empty())
    throw Error(Errc::bad_input,
                fmt::format("is not the published file: {}; {} downloads {} again", fault,
                            option_name("existing=replaced"), file.address),
                {path.string(), 0});
  return {&file, path, input.size(), false, !file.sha256.empty()};
}

GotFile download_file(const Context& context, const DataFile& file, const fs::path& path, Existing existing) {
  const auto address = address_of(file);
  const auto downloader = io::find_downloader();
  if (!downloader) fail_download(file, path, address, "neither curl nor wget is installed");
  io::OutputFile output(path, io::OutputFile::Compression::none, existing);
  Inspection inspection(file);
  context.progress().begin("downloading " + file.name, 0, "B");
  io::Download download(*downloader, address);
  std::string buffer(data_step_bytes, '\0');
  while (const auto got = download.read(buffer)) {
    const auto bytes = std::string_view(buffer).substr(0, got);
    inspection.add(bytes);
    output.write(bytes);
    context.progress().advance(Index(got));
  }
  if (const auto fault = download.finish(); !fault.empty()) fail_download(file, path, address, fault);
  if (const auto fault = inspection.fault(); !fault.empty()) fail_contents(file, path, address, fault);
  output.commit();
  context.progress().finish();
  return {&file, path, inspection.num_bytes(), true, !file.sha256.empty()};
}

void copy_member(const Context& context, const io::InputFile& archive, const io::ZipMember& member,
                 io::OutputFile& output) {
  io::ZipMemberReader reader(archive, member);
  context.progress().begin("unpacking " + member.name, member.bytes, "B");
  std::string buffer(data_step_bytes, '\0');
  while (reader.bytes_left() > 0) {
    const auto step = std::min<Index>(reader.bytes_left(), Index(data_step_bytes));
    const auto part = std::span(buffer).first(std::size_t(step));
    reader.read(part);
    output.write({part.data(), part.size()});
    context.progress().advance(step);
  }
  reader.finish();
  context.progress().finish();
}

void unpack_sound(const Context& context, const DataSet& set, const fs::path& archive, const fs::path& path,
                  Existing existing) {
  const io::InputFile file(archive);
  const auto members = io::read_zip_directory(file);
  const auto member = std::ranges::find(members, set.member, &io::ZipMember::name);
  if (member == members.end())
    throw Error(Errc::bad_input,
                fmt::format("has no member '{}', which is the data set {}", set.member, set.name),
                {archive.string(), 0});
  io::OutputFile output(path, io::OutputFile::Compression::none, existing);
  copy_member(context, file, *member, output);
  output.commit();
}

void unpack_member(const Context& context, const DataSet& set, const fs::path& archive, const fs::path& path,
                   Existing existing) {
  try {
    unpack_sound(context, set, archive, path, existing);
  } catch (const Error& e) {
    if (e.code() != Errc::bad_input) throw;
    throw Error(e.code(), e.message() + "; " + option_name("existing=replaced") + " downloads it again",
                e.input());
  }
}

struct GotSet {
  std::vector<GotFile> files;
  bool is_unpacked = false;  // now
};

GotSet get_files(const Context& context, const DataSet& set, const GetDataOptions& options) {
  const auto is_kept = [&options](const fs::path& path) {
    std::error_code error;
    return options.existing == Existing::refused && fs::exists(path, error);
  };
  const auto data = place_of(options, set.data);
  GotSet got;
  if (!set.member.empty() && is_kept(data)) return got;  // the archive may have been removed
  for (const auto& file : set.files) {
    const auto path = place_of(options, file.name);
    got.files.push_back(is_kept(path) ? keep_file(file, path)
                                      : download_file(context, file, path, options.existing));
  }
  if (set.member.empty()) return got;
  unpack_member(context, set, got.files.front().path, data, options.existing);
  got.is_unpacked = true;
  return got;
}

std::string file_sentence(const GotFile& got) {
  const auto what = got.is_new ? "downloaded " : "kept ";
  const auto check = got.is_verified ? "its SHA-256 is that of the published file"
                                     : "no checksum of it is known to compare with";
  return fmt::format("{}{} ({} bytes; {})\n", what, got.path.string(), with_commas(got.bytes), check);
}

std::string got_text(const DataSet& set, const GotSet& got, const fs::path& data) {
  std::string text;
  for (const auto& file : got.files) text += file_sentence(file);
  if (got.is_unpacked)
    text += fmt::format("unpacked {} to {}; the archive is not needed any more\n", set.member, data.string());
  else if (!set.member.empty())
    text += fmt::format("kept {}; nothing was downloaded\n", data.string());
  text += fmt::format("{}: {}; {}\nlicence: {}; see {}\n\nIt is read by", set.name, set.content, set.size,
                      set.licence, set.page);
  for (const auto& command : reading_commands(set, data)) text += "\n  " + command;
  return text;
}

nlohmann::ordered_json commands_json(const Context& context, const DataSet& set, const fs::path& data) {
  auto commands = nlohmann::ordered_json::array();
  for (const auto& command : reading_commands(set, data)) commands.push_back(context.shown(command));
  return commands;
}

nlohmann::ordered_json got_json(const Context& context, const DataSet& set, const GotSet& got,
                                const fs::path& data) {
  auto files = nlohmann::ordered_json::array();
  for (const auto& file : got.files)
    files.push_back({{"path", file.path.string()},
                     {"address", file.file->address},
                     {"bytes", file.bytes},
                     {"downloaded", file.is_new},
                     {"verified", file.is_verified}});
  nlohmann::ordered_json json;
  json["name"] = set.name;
  json["data"] = data.string();
  json["files"] = std::move(files);
  json["licence"] = set.licence;
  json["page"] = set.page;
  json["commands"] = commands_json(context, set, data);
  return json;
}

nlohmann::ordered_json set_json(const Context& context, const DataSet& set) {
  auto files = nlohmann::ordered_json::array();
  for (const auto& file : set.files)
    files.push_back({{"address", file.address}, {"name", file.name}, {"sha256", file.sha256}});
  nlohmann::ordered_json json;
  json["name"] = set.name;
  json["content"] = set.content;
  json["size"] = set.size;
  json["licence"] = set.licence;
  json["page"] = set.page;
  json["files"] = std::move(files);
  json["member"] = set.member;
  json["data"] = set.data;
  json["commands"] = commands_json(context, set, set.data);
  return json;
}

std::string set_text(const DataSet& set) {
  const auto& first = set.files.front();
  auto text =
      fmt::format("{:<18}{}\n{:18}{}\n{:18}licence: {}{}\n{:18}{}\n", set.name, set.content, "", set.size, "",
                  set.licence, first.sha256.empty() ? "" : "; checksum known", "", first.address);
  return text;
}

}  // namespace

std::vector<std::string> data_set_names() {
  std::vector<std::string> names;
  for (const auto& set : public_data_sets()) names.push_back(set.name);
  return names;
}

TaskResult list_data(const Context& context) {
  std::string text;
  auto sets = nlohmann::ordered_json::array();
  for (const auto& set : public_data_sets()) {
    text += set_text(set) + "\n";
    sets.push_back(set_json(context, set));
  }
  text +=
      "polyad get NAME downloads one and prints the commands that read it. Addresses may have changed since "
      "this\nlist was made. Where no checksum is known, nobody compared the file with the list.";
  nlohmann::ordered_json json;
  json["sets"] = std::move(sets);
  return {std::move(text), tasks::json_text(json)};
}

FilePlan plan_data(const std::string& name, const GetDataOptions& options) {
  const auto& set = data_set_called(name);
  FilePlan plan;
  for (const auto& file : set.files) plan.writes("the download", place_of(options, file.name));
  if (!set.member.empty()) plan.writes("the data set", place_of(options, set.data));
  return plan;
}

GotData get_data(const Context& context, const std::string& name, const GetDataOptions& options) {
  const tasks::TaskScope scope(context);
  tasks::require_one_process(context, "get_data");
  tasks::require_enumerator("existing", options.existing, Existing::refused);
  const auto& set = data_set_called(name);
  const auto got = get_files(context, set, options);
  const auto data = place_of(options, set.data);
  return {{context.shown(got_text(set, got, data)), tasks::json_text(got_json(context, set, got, data))},
          data};
}

}  // namespace polyad
