#include "polyad/tasks/load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "polyad/comm/collective.hpp"
#include "polyad/comm/runtime.hpp"
#include "polyad/io/bytes/standard_input.hpp"
#include "polyad/io/tensors/file_series.hpp"
#include "polyad/io/tensors/labelled_text.hpp"
#include "polyad/io/tensors/read_tensor.hpp"
#include "polyad/tasks/detail/agreement.hpp"
#include "polyad/tasks/detail/find_labels.hpp"
#include "polyad/tasks/detail/memory_use.hpp"
#include "polyad/tasks/detail/settings.hpp"
#include "polyad/tasks/detail/source_files.hpp"
#include "polyad/tasks/detail/task_checks.hpp"
#include "polyad/tasks/detail/task_scope.hpp"
#include "polyad/tasks/detail/values/prepare_values.hpp"

namespace polyad {
namespace {

// [process][mode]: the labels of all processes, on each. Labels travel as texts that end in a byte that no
// label contains. Collective.
std::vector<std::vector<ModeLabels>> gather_labels(const Comm& comm, const std::vector<ModeLabels>& mine) {
  std::vector<std::vector<ModeLabels>> shares(std::size_t(comm.size()), mine);
  for (std::size_t m = 0; m < mine.size(); ++m) {
    std::vector<char> text;
    for (const auto& label : mine[m].labels) {
      text.insert(text.end(), label.begin(), label.end());
      text.push_back('\n');
    }
    const auto all = comm.all_gather_varying<char>(text);
    const char* p = all.items.data();
    for (int rank = 0; rank < comm.size(); ++rank) {
      auto& labels = shares[rank][m].labels;
      labels.clear();
      const char* const end = p + all.counts[rank];
      while (p < end) {
        const char* const stop = std::find(p, end, '\n');
        labels.emplace_back(p, stop);
        p = stop + 1;
      }
    }
  }
  return shares;
}

// Of the tensor and of its labels. Collective.
void require_same_inputs(const Comm& comm, const tasks::SourceFiles& source, const LabelSources& sources) {
  std::vector<std::string> names;
  for (const auto& file : source.files)
    if (!io::is_standard_input(file)) names.push_back(file.string());
  const auto labels = collectively(comm, [&] { return tasks::label_files_for(source, sources); });
  for (const auto& file : labels) names.push_back(file.string());
  tasks::require_same_files(comm, names);
}

// Of each file, over all processes. Collective.
std::vector<io::SlabFacts> facts_of_files(const Comm& comm, const io::SeriesSlab& series) {
  std::vector<io::SlabFacts> whole(series.facts.size());
  const auto all = comm.all_gather_varying<io::SlabFacts>(series.facts);
  for (std::size_t i = 0; i < all.items.size(); ++i) {
    auto& facts = whole[i % whole.size()];
    facts = io::merge(facts, all.items[i]);
  }
  return whole;
}

// What processes that have read different files cannot see by themselves. Collective.
void require_same_order(const Comm& comm, const tasks::SourceFiles& source, int order) {
  const auto orders = comm.all_gather(order);
  const auto other = std::ranges::find_if(orders, [&](int o) { return o != orders[0]; });
  if (other != orders.end())
    throw Error(Errc::bad_input,
                fmt::format("tensors of the orders {} and {}: files that are read as one have the same",
                            orders[0], *other),
                {source.name, 0});
}

[[noreturn]] void refuse(const std::string& what) {
  throw Error(Errc::bad_input, what);
}

void check_nonzeros(const SparseTensor<double>& x) {
  for (int mode = 0; mode < x.order(); ++mode) {
    const auto indices = x.indices(mode);
    const Index extent = x.extent(mode);
    const auto wrong = std::ranges::find_if(indices, [&](Index i) { return i < 0 || i >= extent; });
    if (wrong != indices.end())
      refuse(
          fmt::format("nonzero {} has index {} in mode {}, which has the dimension {}; modes and indices "
                      "count from 0",
                      wrong - indices.begin(), *wrong, mode, extent));
  }
  const auto wrong = std::ranges::find_if(x.values(), [](double value) { return !std::isfinite(value); });
  if (wrong != x.values().end())
    refuse(fmt::format("nonzero {} has a value that is not finite: {}", wrong - x.values().begin(), *wrong));
}

void check_labels(const std::vector<ModeLabels>& labels, const std::vector<Index>& extents) {
  if (!labels.empty() && labels.size() != extents.size())
    refuse(fmt::format("expected labels of {} modes or of none, found {}", extents.size(), labels.size()));
  for (std::size_t mode = 0; mode < labels.size(); ++mode) {
    const auto& of_mode = labels[mode].labels;
    if (std::ssize(of_mode) > extents[mode])
      refuse(fmt::format("mode {} has {} labels and the dimension {}", mode, of_mode.size(), extents[mode]));
    const auto broken = std::ranges::find_if(
        of_mode, [](const auto& label) { return label.find_first_of("\r\n") != std::string::npos; });
    if (broken != of_mode.end())
      refuse(fmt::format("label {} of mode {} has a line break", broken - of_mode.begin(), mode));
  }
}

}  // namespace

Tensor make_tensor(SparseTensor<double> nonzeros, std::vector<ModeLabels> labels) {
  tasks::require_order(nonzeros.order());
  check_nonzeros(nonzeros);
  check_labels(labels, nonzeros.extents());
  labels.resize(std::size_t(nonzeros.order()));
  Tensor x{std::move(nonzeros), std::move(labels)};
  return x;
}

Tensor load(const Context& context, const TensorFiles& files, const LoadOptions& options) {
  const tasks::TaskScope scope(context);
  const Stopwatch watch;
  const tasks::WatchedMemory memory;
  const Comm& comm = context.comm();
  tasks::check_value_options(options);
  io::ReadOptions read = tasks::read_options(options);
  read.share = {comm.rank(), comm.size()};
  read.progress = &context.progress();
  tasks::share_standard_input(comm, files);
  const auto source = collectively(comm, [&] { return tasks::source_files(files); });
  require_same_inputs(comm, source, options.labels);
  const OneProcessWorks patience;  // a slow disk is no fault
  auto series = collectively(comm, [&] { return io::read_series(source.files, read); });
  const auto of_files = facts_of_files(comm, series);
  require_same_order(comm, source, series.slab.head.order);
  collectively(comm, [&] { io::settle_series(series, of_files, read); });
  auto& slab = series.slab;
  if (comm.size() > 1 && !slab.labels.empty())
    io::relabel(slab, io::unite_labels(gather_labels(comm, slab.labels), slab.label_rules));
  for (const int mode : io::modes_of_quantiles(slab)) {
    auto counts = io::count_labels(slab, mode);
    comm.all_reduce(std::span(counts));
    io::bin_quantiles(slab, mode, counts);
  }
  io::SlabFacts whole;
  for (const auto& facts : comm.all_gather(slab.facts)) whole = io::merge(whole, facts);
  std::vector<std::string> label_notes;
  Tensor x = collectively(comm, [&] {
    auto tensor = io::assemble(std::move(slab), whole, read);
    label_notes = tasks::add_labels(tensor, source, options.labels);
    return tensor;
  });
  x.sums_duplicates = options.value == "1";
  x.duplicate_rule = options.duplicates.value_or(Duplicates::sum);
  x.transform = options.transform;
  x.min_count = options.min_count;
  x.is_prepared = tasks::prepares_values(options);
  if (x.is_prepared) tasks::prepare_values(context, x, options);
  x.load_seconds = watch.seconds();
  x.load_bytes = memory.most();
  x.settings = tasks::settings_of(options);
  tasks::tell_notes(context, x, label_notes);
  return x;
}

}  // namespace polyad
