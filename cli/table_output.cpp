#include "cli/table_output.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "cli/console.hpp"
#include "polyad/base/error.hpp"
#include "polyad/base/printable.hpp"
#include "polyad/io/tensors/tensor_format.hpp"

namespace polyad::cli {

char table_separator(const std::string& out) {
  const std::filesystem::path path(out);
  const auto extension = (io::has_gzip_extension(path) ? path.stem() : path).extension();
  if (out.empty() || extension == ".tsv") return '\t';
  if (extension == ".csv") return ',';
  throw Error(
      Errc::bad_option,
      fmt::format("--out {}: expected a name that ends in .tsv or .csv, or in .tsv.gz or .csv.gz", out));
}

TableOutput::TableOutput(const std::string& out) {
  using Compression = io::OutputFile::Compression;
  if (!out.empty()) file_.emplace(out, io::has_gzip_extension(out) ? Compression::gzip : Compression::none);
}

void TableOutput::write(std::string_view text) {
  // Labels may hold anything: a file keeps it, a terminal would obey it.
  file_ ? file_->write(text) : Console::print(printable_lines(text));
}

void TableOutput::commit() {
  if (file_) file_->commit();
}

}  // namespace polyad::cli
