// SPLATT's form: a directory with lambda.mat, a weight per line, and mode1.mat ... modeN.mat, a row per
// line. The order is the number of these files.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <system_error>

#include "polyad/base/error.hpp"
#include "polyad/io/bytes/paths.hpp"
#include "polyad/io/bytes/staged_directory.hpp"
#include "polyad/io/models/kruskal_formats.hpp"
#include "polyad/io/models/kruskal_text.hpp"
#include "polyad/io/models/label_files.hpp"
#include "polyad/io/models/rating_model_file.hpp"
#include "polyad/io/models/value_record.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::io {
namespace {

namespace fs = std::filesystem;

std::string mode_name(Index mode) {  // from 1
  return fmt::format("mode{}.mat", mode);
}

void check(const fs::path& path, const std::string& what, const std::error_code& error) {
  if (error) throw Error(Errc::io, what + ": " + error.message(), {path.string(), 0});
}

// The mode, from 1, that a file of this name holds the factor of.
std::optional<Index> mode_of(std::string_view name) {
  constexpr std::string_view before = "mode", behind = ".mat";
  if (name.size() <= before.size() + behind.size()) return std::nullopt;
  const auto mode = parse_index(name.substr(before.size(), name.size() - before.size() - behind.size()));
  return mode && *mode > 0 && name == mode_name(*mode) ? mode : std::nullopt;
}

// The modes for which the directory has a file; in order.
std::vector<Index> modes_present(const fs::path& directory) {
  std::vector<Index> modes;
  std::error_code error;
  fs::directory_iterator entries(directory, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error))
    if (const auto mode = mode_of(entries->path().filename().string())) modes.push_back(*mode);
  check(directory, "cannot be read", error);
  std::ranges::sort(modes);
  return modes;
}

// The order of the tensor; throws when a file is missing.
int checked_order(const fs::path& directory) {
  const auto modes = modes_present(directory);
  if (!is_present(directory / splatt_key))
    refuse_contents(directory,
                    fmt::format("{} is missing: it holds the weights and is written last", splatt_key));
  if (modes.empty()) refuse_contents(directory, fmt::format("{} is missing", mode_name(1)));
  for (Index m = 1; m <= Index(modes.size()); ++m)
    if (modes[m - 1] != m)
      refuse_contents(directory,
                      fmt::format("{} is missing, but {} is there", mode_name(m), mode_name(modes.back())));
  if (Index(modes.size()) < min_order || Index(modes.size()) > max_order)
    refuse_contents(directory, fmt::format("a tensor of order {}: Polyad takes orders {} to {}", modes.size(),
                                           min_order, max_order));
  return int(modes.size());
}

std::vector<double> read_weights(const fs::path& path) {
  const InputFile file(path);
  NumberText text(file);
  std::vector<double> weights;
  while (text.next()) weights.push_back(text.reals(1, ", a weight per line")[0]);
  if (weights.empty()) refuse_contents(path, "holds no weights");
  return weights;
}

Matrix<double> read_factor(const fs::path& path, Index num_components) {
  const InputFile file(path);
  NumberText text(file);
  GrowingMatrix rows(num_components);
  while (text.next())
    rows.append(
        text.reals(num_components, rows.num_rows() == 0 ? ", one per weight in lambda.mat" : " as in row 1"));
  if (rows.num_rows() == 0) refuse_contents(path, "holds no rows");
  return std::move(rows).matrix();
}

ModelFiles splatt_files() {
  return {[](const fs::path& name) {
            return is_part_of_splatt_model(name) || is_label_file(name) || name == "summary.json";
          },
          holds_splatt_factors, splatt_key};
}

}  // namespace

bool is_part_of_splatt_model(const fs::path& name) {
  return name == splatt_key || name == value_record_name || mode_of(name.string()).has_value();
}

bool holds_splatt_factors(const fs::path& directory) {
  return is_present(directory / splatt_key) || is_present(directory / mode_name(1));
}

Kruskal<double> read_splatt_factors(const fs::path& directory) {
  Kruskal<double> k;
  const int order = checked_order(directory);
  k.weights = read_weights(directory / splatt_key);
  for (int m = 0; m < order; ++m)
    k.factors.push_back(read_factor(directory / mode_name(m + 1), k.num_components()));
  if (const auto record = directory / value_record_name; is_present(record)) {
    std::string text;
    ByteStream(InputFile(record), 1 << 12).next(text);
    take_value_records(record.string(), text, k.prepared);
  }
  return k;
}

// Labels in the directory of a model are its own: those of anything else would be taken for them.
void check_splatt_place(const fs::path& directory, Existing existing) {
  StagedDirectory::check_place(directory, splatt_files(), existing);
  if (!is_present(directory) || holds_splatt_factors(directory)) return;
  if (is_rating_model(directory))
    throw Error(Errc::bad_option, "holds a model of another kind; write this one to another folder",
                {directory.string(), 0});
  for (const auto& file : label_files_at(labels_of_model_folder(directory)))
    throw Error(Errc::bad_option, "holds other labels already; write the model to another folder",
                {file.string(), 0});
}

void write_splatt_factors(const fs::path& directory, const WritableKruskal& k, const AddFiles& add_files,
                          Existing existing) {
  StagedDirectory staged(directory, splatt_files(), existing);
  for (int m = 0; m < k.order(); ++m) {
    OutputFile mode(staged.path() / mode_name(m + 1));
    write_mode(mode, k, m);
    mode.commit();
  }
  OutputFile weights(staged.path() / splatt_key);
  for (const double weight : k.weights) write_row(weights, std::span(&weight, 1));
  weights.commit();
  if (const auto record = value_record(k.prepared); !record.empty()) {
    OutputFile values(staged.path() / value_record_name);
    values.write(record);
    values.commit();
  }
  if (add_files) add_files(staged.path());
  staged.commit();
}

}  // namespace polyad::io
