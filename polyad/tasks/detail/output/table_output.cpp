#include "polyad/tasks/detail/output/table_output.hpp"

#include <fmt/format.h>

#include <utility>

#include "polyad/base/error.hpp"
#include "polyad/io/tensors/tensor_format.hpp"

namespace polyad::tasks {

char table_separator(const std::filesystem::path& out) {
  const auto extension = (io::has_gzip_extension(out) ? out.stem() : out).extension();
  if (out.empty() || extension == ".tsv") return '\t';
  if (extension == ".csv") return ',';
  throw Error(Errc::bad_option,
              fmt::format("{} {}: expected a name that ends in .tsv or .csv, or in .tsv.gz or .csv.gz",
                          option_name("out"), out.string()));
}

TableOutput::TableOutput(const std::filesystem::path& out, io::WriteText otherwise)
    : otherwise_(std::move(otherwise)) {
  using Compression = io::OutputFile::Compression;
  if (!out.empty()) file_.emplace(out, io::has_gzip_extension(out) ? Compression::gzip : Compression::none);
}

void TableOutput::write(std::string_view text) {
  file_ ? file_->write(text) : otherwise_(text);
}

void TableOutput::commit() {
  if (file_) file_->commit();
}

}  // namespace polyad::tasks
