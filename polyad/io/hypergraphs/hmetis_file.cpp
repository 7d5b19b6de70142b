#include "polyad/io/hypergraphs/hmetis_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "polyad/base/error.hpp"
#include "polyad/io/bytes/byte_stream.hpp"
#include "polyad/io/bytes/output_file.hpp"
#include "polyad/io/text/line_writer.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::io {

namespace {

constexpr int has_net_weights = 1, has_vertex_weights = 10;

class HypergraphReader {
 public:
  explicit HypergraphReader(const std::filesystem::path& path) : path_(path), file_(path), lines_(file_) {}

  hypergraph::Hypergraph read() {
    read_head();
    hypergraph::NumberLists pins;
    Array<Index> net_weights;
    for (Index net = 0; net < num_nets_; ++net) {
      const auto numbers = next_line(fmt::format("net {} of {}", net + 1, num_nets_));
      const bool weighted = format_ % has_vertex_weights == has_net_weights;
      if (weighted) net_weights.push_back(weight(numbers));
      append_net(std::span(numbers).subspan(weighted ? 1 : 0), pins);
    }
    check_vertices(std::ssize(pins.items));
    std::vector<Array<Index>> vertex_weights;
    if (format_ >= has_vertex_weights) {
      auto& weights = vertex_weights.emplace_back();
      for (Index v = 0; v < num_vertices_; ++v) {
        const auto numbers = next_line(fmt::format("the weight of vertex {} of {}", v + 1, num_vertices_));
        if (numbers.size() != 1) fail(fmt::format("expected one weight, found {} numbers", numbers.size()));
        weights.push_back(weight(numbers));
      }
    }
    if (std::string_view line; find_line(line)) fail("expected the end of the file, found a further line");
    return {num_vertices_, std::move(pins), std::move(net_weights), std::move(vertex_weights)};
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(Errc::bad_input, why, {path_.string(), lines_.line_number()});
  }

  // The next that is no comment. Empty lines are nets without vertices.
  bool find_line(std::string_view& line) {
    while (lines_.next(line))
      if (!line.starts_with('%')) return true;
    return false;
  }

  std::vector<Index> next_line(const std::string& expected) {
    std::string_view line;
    if (!find_line(line)) fail(fmt::format("the file ends where {} was expected", expected));
    std::vector<Index> numbers;
    for (const auto word : split_blanks(line)) {
      const auto number = parse_index(word);
      if (!number) fail(fmt::format("'{}' is not a whole number", word.substr(0, 40)));
      numbers.push_back(*number);
    }
    return numbers;
  }

  void read_head() {
    const auto head = next_line("a head 'nets vertices'");
    if (head.size() < 2 || head.size() > 3)
      fail(fmt::format("expected a head 'nets vertices [format]', found {} numbers", head.size()));
    num_nets_ = head[0];
    num_vertices_ = head[1];
    format_ = head.size() == 3 ? head[2] : 0;
    for (const Index count : {num_nets_, num_vertices_})
      if (count < 0 || count > max_local_index)
        fail(fmt::format("expected counts from 0 to {}, found {}", max_local_index, count));
    if (format_ != 0 && format_ != 1 && format_ != 10 && format_ != 11)
      fail(fmt::format("expected a format 0, 1, 10 or 11, found {}", format_));
  }

  // A vertex takes memory even if no line mentions it: a wrong number in the header could exhaust the memory.
  void check_vertices(Index num_pins) const {
    constexpr Index few = 1000000, max_per_pin = 100;
    if (num_vertices_ > few && num_vertices_ / max_per_pin > num_pins)
      fail(fmt::format("the head says {} vertices, but all nets together name {}", num_vertices_, num_pins));
  }

  Index weight(std::span<const Index> numbers) const {
    constexpr Index maximum = Index(1) << 31;
    if (numbers.empty()) fail("expected a weight, found an empty line");
    if (numbers[0] < 0 || numbers[0] > maximum)
      fail(fmt::format("expected a weight from 0 to {}, found {}", maximum, numbers[0]));
    return numbers[0];
  }

  void append_net(std::span<const Index> vertices, hypergraph::NumberLists& pins) const {
    for (const Index v : vertices) {
      if (v < 1 || v > num_vertices_)
        fail(fmt::format("vertex {} does not exist: expected 1 to {}", v, num_vertices_));
      pins.items.push_back(LocalIndex(v - 1));
    }
    const auto first = pins.items.begin() + pins.begin.back();
    std::sort(first, pins.items.end());
    pins.items.erase(std::unique(first, pins.items.end()), pins.items.end());
    pins.begin.push_back(std::ssize(pins.items));
  }

  std::filesystem::path path_;
  InputFile file_;
  LineReader lines_;
  Index num_nets_ = 0, num_vertices_ = 0, format_ = 0;
};

}  // namespace

hypergraph::Hypergraph read_hypergraph(const std::filesystem::path& path) {
  return HypergraphReader(path).read();
}

void write_hypergraph(const std::filesystem::path& path, const hypergraph::Hypergraph& h, Existing existing) {
  if (h.num_constraints() > 1)
    throw Error(Errc::bad_option, fmt::format("{}: vertices have {} weights here, but one in an .hgr file",
                                              path.string(), h.num_constraints()));
  OutputFile file(path, OutputFile::Compression::none, existing);
  const int format =
      (h.has_net_weights() ? has_net_weights : 0) + (h.has_vertex_weights() ? has_vertex_weights : 0);
  file.write(fmt::format("{} {}{}\n", h.num_nets(), h.num_vertices(),
                         format == 0 ? "" : fmt::format(" {}", format)));
  const auto write = [&](std::string_view text) { file.write(text); };
  write_lines(write, h.num_nets(), [&](std::string& out, Index net) {
    if (h.has_net_weights()) append_number(out, h.net_weight(net));
    for (const auto v : h.pins(net)) {
      if (!out.empty() && out.back() != '\n') out += ' ';
      append_number(out, Index(v) + 1);
    }
    out += '\n';
  });
  if (h.has_vertex_weights())
    write_lines(write, h.num_vertices(), [&](std::string& out, Index v) {
      append_number(out, h.vertex_weight(v));
      out += '\n';
    });
  file.commit();
}

}  // namespace polyad::io
