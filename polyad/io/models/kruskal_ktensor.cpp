// The text of Tensor Toolbox (MATLAB), pyttb and GenTen. All three read what is written here.
//
//   ktensor
//   order
//   dims
//   number of components
//   weights
//   per mode:  matrix (or GenTen's facmatrix)
//              2
//              rows and columns
//              a line per row

#include <fmt/format.h>

#include <algorithm>

#include "polyad/io/models/kruskal_formats.hpp"
#include "polyad/io/models/kruskal_text.hpp"
#include "polyad/io/models/value_record.hpp"
#include "polyad/io/tensors/recognition/recognise.hpp"
#include "polyad/io/tensors/tensor_format.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::io {
namespace {

bool begins_factor(std::string_view word) {
  return word == "matrix" || word == "facmatrix";
}

// The lines that begin the factor of a mode; they must repeat what the header says.
void read_factor_head(NumberText& text, int mode, Index dim, Index num_components) {
  const std::string name = fmt::format("factor {}", mode + 1);
  text.require_next(name);
  if (!begins_factor(text.first_word()))
    text.fail(fmt::format("expected 'matrix' or 'facmatrix' before {}, found {}", name,
                          in_quotes(text.first_word())));
  text.require_next("the order of " + name);
  if (const Index order = text.sizes(1, ", the order of " + name)[0]; order != 2)
    text.fail(fmt::format("{} is of order {}, expected a matrix, of order 2", name, order));
  text.require_next("the rows and columns of " + name);
  const auto shape = text.sizes(2, ", the rows and columns of " + name);
  if (shape[0] != dim)
    text.fail(
        fmt::format("{} has {}, but dimension {} is {}", name, counted(shape[0], "row"), mode + 1, dim));
  if (shape[1] != num_components)
    text.fail(fmt::format("{} has {}, but the tensor has {}", name, counted(shape[1], "column"),
                          counted(num_components, "component")));
}

Matrix<double> read_factor(NumberText& text, int mode, Index dim, Index num_components) {
  read_factor_head(text, mode, dim, num_components);
  GrowingMatrix rows(num_components);
  while (rows.num_rows() < dim) {
    text.require_next(fmt::format("row {} of factor {}", rows.num_rows() + 1, mode + 1));
    if (begins_factor(text.first_word()))
      text.fail(fmt::format("factor {} ends after {}, expected {}", mode + 1, counted(rows.num_rows(), "row"),
                            dim));
    rows.append(text.reals(num_components, ", one per component"));
  }
  return std::move(rows).matrix();
}

void write_list(OutputFile& out, const std::vector<Index>& numbers) {
  std::string line;
  for (const Index number : numbers) {
    append_number(line, number);
    line += ' ';
  }
  line.back() = '\n';
  out.write(line);
}

}  // namespace

Kruskal<double> read_ktensor(const InputFile& file) {
  NumberText text(file);
  text.require_next("the word 'ktensor'");
  text.require_next("the order");
  const Index order = text.sizes(1, ", the order")[0];
  if (order < min_order || order > max_order)
    text.fail(fmt::format("a tensor of order {}: Polyad takes orders {} to {}", order, min_order, max_order));
  text.require_next("the line of dimensions");
  const auto dims = text.sizes(order, ", a dimension per mode");
  text.require_next("the number of components");
  const Index num_components = text.sizes(1, ", that of components")[0];
  text.require_next("the line of weights");
  Kruskal<double> k;
  const auto weights = text.reals(num_components, ", a weight per component");
  k.weights.assign(weights.begin(), weights.end());
  for (int m = 0; m < int(order); ++m) k.factors.push_back(read_factor(text, m, dims[m], num_components));
  if (text.next())
    text.fail(fmt::format("expected the end of the file behind factor {}, found {}", order,
                          in_quotes(text.first_word())));
  for (const auto& comment : text.comments()) take_value_record(comment, k.prepared);
  return k;
}

void write_ktensor(const std::filesystem::path& path, const WritableKruskal& k, Existing existing) {
  OutputFile out(path,
                 has_gzip_extension(path) ? OutputFile::Compression::gzip : OutputFile::Compression::none,
                 existing);
  out.write("ktensor\n");
  write_list(out, {Index(k.order())});
  write_list(out, k.extents);
  write_list(out, {k.num_components()});
  write_row(out, k.weights);
  for (int m = 0; m < k.order(); ++m) {
    out.write("matrix\n2\n");
    write_list(out, {k.extents[m], k.num_components()});
    write_mode(out, k, m);
  }
  std::string_view record_line;
  const auto record = value_record(k.prepared);
  for (std::string_view rest = record; !rest.empty(); rest.remove_prefix(record_line.size() + 1)) {
    record_line = rest.substr(0, rest.find('\n'));
    out.write(fmt::format("# {}\n", record_line));
  }
  out.commit();
}

}  // namespace polyad::io
