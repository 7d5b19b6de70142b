#include "polyad/tasks/load.hpp"

#include <algorithm>
#include <utility>

#include "polyad/comm/collective.hpp"
#include "polyad/comm/runtime.hpp"
#include "polyad/io/tensors/labelled_text.hpp"
#include "polyad/io/tensors/read_tensor.hpp"
#include "polyad/tasks/detail/agreement.hpp"
#include "polyad/tasks/detail/find_labels.hpp"
#include "polyad/tasks/detail/task_threads.hpp"

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
void require_same_inputs(const Comm& comm, const std::filesystem::path& path, const LabelSources& sources) {
  const auto files = collectively(comm, [&] { return tasks::label_files_for(path, sources); });
  std::vector<std::string> names{path.string()};
  for (const auto& file : files) names.push_back(file.string());
  tasks::require_same_files(comm, names);
}

}  // namespace

Tensor make_tensor(SparseTensor<double> nonzeros, std::vector<ModeLabels> labels) {
  labels.resize(std::size_t(nonzeros.order()));
  Tensor x{std::move(nonzeros), std::move(labels)};
  return x;
}

Tensor load(const Context& context, const std::filesystem::path& path, const LoadOptions& options) {
  const tasks::TaskThreads threads(context);
  const Stopwatch watch;
  const Comm& comm = context.comm();
  io::ReadOptions read = tasks::read_options(options);
  read.share = {comm.rank(), comm.size()};
  read.progress = &context.progress();
  require_same_inputs(comm, path, options.labels);
  const OneProcessWorks patience;  // a slow disk is no fault
  io::Slab slab = collectively(comm, [&] { return io::read_slab(path, read); });
  if (comm.size() > 1 && !slab.labels.empty())
    io::relabel(slab, io::unite_labels(gather_labels(comm, slab.labels)));
  io::SlabFacts whole;
  for (const auto& facts : comm.all_gather(slab.facts)) whole = io::merge(whole, facts);
  std::vector<std::string> label_notes;
  Tensor x = collectively(comm, [&] {
    auto tensor = io::assemble(std::move(slab), whole, read);
    tensor.path = path.string();
    label_notes = tasks::add_labels(tensor, options.labels);
    return tensor;
  });
  x.load_seconds = watch.seconds();
  for (const auto& note : x.notes) context.warn(x.path + ": " + note);
  for (const auto& note : label_notes) context.note(x.path + ": " + note);
  return x;
}

}  // namespace polyad
