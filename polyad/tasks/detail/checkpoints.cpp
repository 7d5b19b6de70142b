#include "polyad/tasks/detail/checkpoints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <string_view>
#include <utility>

#include "polyad/base/timings.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/distributed/cp/state_rows.hpp"
#include "polyad/distributed/tensor_fingerprint.hpp"
#include "polyad/io/bytes/checksum.hpp"
#include "polyad/io/checkpoints/checkpoint_parts.hpp"
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/detail/settings.hpp"
#include "polyad/version.hpp"

namespace polyad::tasks {
namespace {

namespace fs = std::filesystem;

constexpr const char* numbers_name = "numbers.bin";

// Settings that say how long a run goes on, where it is stored and how it is divided: not what it computes.
constexpr std::array free_settings{"max_iterations",  "tolerance",  "format",   "max_memory_bytes",
                                   "scheme",          "partition",  "cache",    "grid",
                                   "num_free_primes", "policy",     "row_rule", "is_replicated",
                                   "allows_coarse",   "checkpoint", "every",    "keep",
                                   "max_seconds",     "device"};

// The field that option_name made a name of.
std::string field_of(const std::string& name) {
  return with_option_names(name, [](const std::string& field) { return field; });
}

template <class T>
std::string_view bytes_of(const T& items) {
  return {reinterpret_cast<const char*>(items.data()), items.size() * sizeof(items[0])};
}

std::string tensor_text(const io::CheckpointManifest& manifest) {
  return fmt::format("{} with {}, fingerprint {:016x}", report::dims_text(manifest.dims),
                     report::counted(manifest.num_nonzeros, "nonzero"), manifest.tensor);
}

[[noreturn]] void refuse_checkpoint(const fs::path& checkpoint, const std::string& why) {
  throw Error(Errc::bad_input, why + "; give another directory for other checkpoints",
              {(checkpoint / io::manifest_name).string(), 0});
}

void require_same_run(const fs::path& checkpoint, const io::CheckpointManifest& found,
                      const io::CheckpointManifest& expected) {
  if (found.command != expected.command)
    refuse_checkpoint(checkpoint, fmt::format("is a checkpoint of polyad {}, expected one of polyad {}",
                                              found.command, expected.command));
  if (found.dims != expected.dims || found.tensor != expected.tensor)
    refuse_checkpoint(checkpoint, fmt::format("is a checkpoint of another tensor: it is {}; expected {}",
                                              tensor_text(found), tensor_text(expected)));
  for (const auto& [name, value] : expected.options) {
    const auto same = std::ranges::find(found.options, name, &std::pair<std::string, std::string>::first);
    const auto stored = same == found.options.end() ? "none" : same->second;
    if (stored != value)
      refuse_checkpoint(checkpoint, fmt::format("is a checkpoint of a run with {} {}; this one has {}",
                                                option_name(name), stored, value));
  }
  if (found.options.size() != expected.options.size() || found.value_bytes != expected.value_bytes)
    refuse_checkpoint(checkpoint, "is a checkpoint of a run with other options");
}

std::string broadcast_text(const Comm& comm, const std::string& mine) {
  std::vector<char> text(mine.begin(), mine.end());
  comm.broadcast(text, 0);
  return {text.begin(), text.end()};
}

template <class Real>
std::optional<StateRows<Real>> rows_of(const io::CheckpointPartReader& reader, io::CheckpointBlock block,
                                       int order, Index width) {
  const auto row_bytes = Index(sizeof(Index)) + width * Index(sizeof(Real));
  const Index count = std::ssize(block.bytes) / row_bytes;
  if (count * row_bytes != std::ssize(block.bytes) || block.kind < 0 || block.kind >= order)
    reader.refuse(fmt::format("is damaged: a block of {} bytes for mode {} holds no rows of {} bytes",
                              block.bytes.size(), block.kind + 1, row_bytes));
  StateRows<Real> rows{int(block.kind), Array<Index>(std::size_t(count)),
                       Array<Real>(std::size_t(count * width))};
  const auto split = std::size_t(count) * sizeof(Index);
  std::memcpy(rows.rows.data(), block.bytes.data(), split);
  std::memcpy(rows.values.data(), block.bytes.data() + split, block.bytes.size() - split);
  return rows;
}

std::vector<double> read_numbers(const fs::path& checkpoint, const io::CheckpointPart& part) {
  io::CheckpointPartReader reader(checkpoint, part);
  std::vector<double> numbers;
  while (const auto block = reader.next()) {
    if (block->bytes.size() % sizeof(double) != 0) reader.refuse("is damaged: it does not hold numbers");
    const auto before = numbers.size();
    numbers.resize(before + block->bytes.size() / sizeof(double));
    std::memcpy(numbers.data() + before, block->bytes.data(), block->bytes.size());
  }
  return numbers;
}

// What is found to be wrong with a part only when it is used.
[[noreturn]] void refuse_part(const fs::path& checkpoint, const Error& error) {
  if (!error.input().file.empty()) throw error;
  refuse_checkpoint(checkpoint, "does not fit to this run: " + error.message());
}

}  // namespace

io::CheckpointManifest checkpoint_identity(const Context& context, const Tensor& x,
                                           const DecomposeOptions& options) {
  const Comm& comm = context.comm();
  io::CheckpointManifest identity;
  identity.program = "polyad " POLYAD_VERSION;
  identity.command = "cpd";
  identity.processes = comm.size();
  identity.dims = x.tensor.extents();
  identity.num_nonzeros = comm.all_reduce(x.tensor.num_nonzeros());
  identity.tensor = tensor_fingerprint(comm, x.tensor, FingerprintOf::cells_in_any_order);
  identity.value_bytes = options.precision == Precision::float32 ? 4 : 8;
  for (const auto& setting : settings_of(options))
    if (const auto field = field_of(setting.name);
        std::ranges::find(free_settings, field) == free_settings.end())
      identity.options.emplace_back(field, setting.value);
  identity.options.emplace_back("duplicates", to_string(x.duplicate_rule));
  if (options.missing && options.missing->weights) {
    const auto weights =
        tensor_fingerprint(comm, options.missing->weights->tensor, FingerprintOf::cells_in_any_order);
    identity.options.emplace_back("fingerprint of the weights", fmt::format("{:016x}", weights));
  }
  if (options.start_model)
    identity.options.emplace_back(
        "checksum of the initial weights",
        fmt::format("{:016x}", io::checksum(bytes_of(options.start_model->weights()))));
  return identity;
}

Checkpoints::Checkpoints(const Context& context, const CheckpointOptions& options,
                         io::CheckpointManifest identity)
    : context_(context),
      options_(options),
      identity_(std::move(identity)),
      machine_(context.comm().split_by_machine()) {
  const Comm& comm = context.comm();
  const auto firsts = comm.all_gather(Index(machine_.rank() == 0));
  part_ = int(std::accumulate(firsts.begin(), firsts.begin() + comm.rank(), Index(0)));
  std::string text;
  collectively(comm, [&] {
    if (comm.rank() != 0) return;
    directory_ = std::make_unique<io::CheckpointDirectory>(options.directory);
    const auto newest = directory_->newest();
    if (!newest) return;
    newest_ = *newest;
    const auto manifest = io::read_manifest(*newest);
    require_same_run(*newest, manifest, identity_);
    text = io::manifest_text(manifest);
  });
  text = broadcast_text(comm, text);
  newest_ = broadcast_text(comm, newest_.string());
  if (!text.empty()) found_ = io::parse_manifest(text, newest_ / io::manifest_name);
}

template <class Real>
CpRestart<Real> Checkpoints::restart(const DistTensor<Real>& x) const {
  const Comm& comm = context_.comm();
  auto numbers = collectively(comm, [&] {
    return comm.rank() == 0 ? read_numbers(newest_, found_->numbers) : std::vector<double>();
  });
  comm.broadcast(numbers, 0);
  const auto fill = [this, &x, &comm](const std::vector<kernels::FactorVector<Real>>& vectors,
                                      Index num_columns) {
    collectively(comm, [&] {
      if (std::ssize(vectors) != found_->num_vectors || num_columns != found_->num_columns)
        refuse_checkpoint(
            newest_, fmt::format("holds {} vectors of {} columns, expected {} of {}", found_->num_vectors,
                                 found_->num_columns, vectors.size(), num_columns));
    });
    std::size_t part = 0;
    std::optional<io::CheckpointPartReader> reader;
    const auto next = [&]() -> std::optional<StateRows<Real>> {
      for (;; ++part) {
        if (part == found_->rows.size()) return std::nullopt;
        if (!reader) reader.emplace(newest_, found_->rows[part]);
        if (auto block = reader->next())
          return rows_of<Real>(*reader, std::move(*block), x.order(), std::ssize(vectors) * num_columns);
        reader.reset();
      }
    };
    collectively(comm, [&] {
      try {
        hand_out_state<Real>(machine_, x, {vectors, num_columns}, next);
      } catch (const Error& error) {
        refuse_part(newest_, error);
      }
    });
  };
  return {StateNumbers(std::move(numbers)), fill};
}

template <class Real>
void Checkpoints::write_parts(const DistTensor<Real>& x, const CpState<Real>& state,
                              io::CheckpointManifest manifest) {
  const Comm& comm = context_.comm();
  auto staged = collectively(
      comm, [&] { return comm.rank() == 0 ? directory_->begin(manifest.sequence).string() : std::string(); });
  staged = broadcast_text(comm, staged);
  struct Written {
    Index bytes = -1;  // none
    std::uint64_t checksum = 0;
  };
  const auto mine = collectively(comm, [&] {
    std::optional<io::CheckpointPartWriter> writer;
    const auto open = [&] { writer.emplace(fs::path(staged) / fmt::format("rows-{:05}.bin", part_)); };
    gather_state<Real>(machine_, x, {state.vectors, state.num_columns}, [&](const StateRows<Real>& block) {
      if (!writer) open();
      const std::array pieces{bytes_of(block.rows), bytes_of(block.values)};
      writer->write(block.mode, pieces);
    });
    if (machine_.rank() != 0) return Written{};
    if (!writer) open();
    const auto part = writer->finish();
    return Written{part.bytes, part.checksum};
  });
  for (const auto& [bytes, checksum] : comm.all_gather(mine))
    if (bytes >= 0)
      manifest.rows.push_back({fmt::format("rows-{:05}.bin", manifest.rows.size()), bytes, checksum});
  collectively(comm, [&] {
    if (comm.rank() != 0) return;
    io::CheckpointPartWriter numbers(fs::path(staged) / numbers_name);
    const std::array pieces{bytes_of(state.numbers.values())};
    numbers.write(0, pieces);
    manifest.numbers = numbers.finish();
    directory_->commit(io::manifest_text(manifest), options_.keep);
  });
}

template <class Real>
void Checkpoints::write(const DistTensor<Real>& x, const CpPause<Real>& pause, Index sequence,
                        const std::vector<int>& mode_order) {
  const Stopwatch watch;
  CpState<Real> state;
  pause.save(state);
  auto manifest = identity_;
  manifest.sequence = sequence;
  manifest.iteration = pause.iteration;
  manifest.fit = pause.fit;
  manifest.mode_order = mode_order;
  manifest.num_vectors = std::ssize(state.vectors);
  manifest.num_columns = state.num_columns;
  try {
    write_parts(x, state, std::move(manifest));
    ++num_written_;
  } catch (const Error& error) {
    if (error.code() != Errc::io && error.code() != Errc::resource) throw;
    if (directory_) directory_->abandon();
    context_.warn(
        fmt::format("no checkpoint after iteration {}: {}; the run goes on", pause.iteration, error.what()));
  }
  seconds_ += watch.seconds();
}

template CpRestart<float> Checkpoints::restart(const DistTensor<float>&) const;
template CpRestart<double> Checkpoints::restart(const DistTensor<double>&) const;
template void Checkpoints::write(const DistTensor<float>&, const CpPause<float>&, Index,
                                 const std::vector<int>&);
template void Checkpoints::write(const DistTensor<double>&, const CpPause<double>&, Index,
                                 const std::vector<int>&);

}  // namespace polyad::tasks
