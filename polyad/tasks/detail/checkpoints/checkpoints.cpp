#include "polyad/tasks/detail/checkpoints/checkpoints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <string_view>
#include <utility>

#include "polyad/base/timings.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/distributed/state_rows.hpp"
#include "polyad/io/checkpoints/checkpoint_parts.hpp"
#include "polyad/report/statistics_report.hpp"

namespace polyad::tasks {
namespace {

namespace fs = std::filesystem;

constexpr const char* numbers_name = "numbers.bin";

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
                                       int num_kinds, Index width) {
  const auto row_bytes = Index(sizeof(Index)) + width * Index(sizeof(Real));
  const Index count = std::ssize(block.bytes) / row_bytes;
  if (count * row_bytes != std::ssize(block.bytes) || block.kind < 0 || block.kind >= num_kinds)
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

void refuse_unfinished(bool is_time_limit, const std::string& where,
                       const std::optional<report::CheckpointUse>& checkpoint) {
  const auto how = checkpoint
                       ? fmt::format("the same command goes on from {}", checkpoint->directory)
                       : fmt::format("with {} the same command would go on", option_name("checkpoint"));
  throw Error(Errc::interrupted, fmt::format("{} ended the run after {}; {}",
                                             is_time_limit ? "the time limit" : "a signal", where, how));
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
  if (text.empty()) return;
  found_ = io::parse_manifest(text, newest_ / io::manifest_name);
  last_sequence_ = found_->sequence;
}

report::CheckpointUse Checkpoints::use() const {
  return {options_.directory.string(), found_ ? found_->iteration : 0, num_written_, seconds_};
}

template <class Real>
void Checkpoints::fill(const OwnRows<Real>& own, Index num_vectors, Index num_columns) const {
  const Comm& comm = context_.comm();
  collectively(comm, [&] {
    if (num_vectors != found_->num_vectors || num_columns != found_->num_columns)
      refuse_checkpoint(newest_,
                        fmt::format("holds {} vectors of {} columns, expected {} of {}", found_->num_vectors,
                                    found_->num_columns, num_vectors, num_columns));
  });
  std::size_t part = 0;
  std::optional<io::CheckpointPartReader> reader;
  const auto next = [&]() -> std::optional<StateRows<Real>> {
    for (;; ++part) {
      if (part == found_->rows.size()) return std::nullopt;
      if (!reader) reader.emplace(newest_, found_->rows[part]);
      if (auto block = reader->next())
        return rows_of<Real>(*reader, std::move(*block), own.num_kinds(), own.width);
      reader.reset();
    }
  };
  collectively(comm, [&] {
    try {
      hand_out_state<Real>(machine_, own, next);
    } catch (const Error& error) {
      refuse_part(newest_, error);
    }
  });
}

template <class Real>
RunRestart<Real> Checkpoints::restart() const {
  const Comm& comm = context_.comm();
  auto numbers = collectively(comm, [&] {
    return comm.rank() == 0 ? read_numbers(newest_, found_->numbers) : std::vector<double>();
  });
  comm.broadcast(numbers, 0);
  const auto fill_rows = [this](const OwnRows<Real>& own, Index num_vectors, Index num_columns) {
    fill(own, num_vectors, num_columns);
  };
  return {StateNumbers(std::move(numbers)), fill_rows};
}

template <class Real>
void Checkpoints::write_parts(const RunState<Real>& state, io::CheckpointManifest manifest) {
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
    gather_state<Real>(machine_, state.rows, [&](const StateRows<Real>& block) {
      if (!writer) open();
      const std::array pieces{bytes_of(block.rows), bytes_of(block.values)};
      writer->write(block.kind, pieces);
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
void Checkpoints::write(const RunPause<Real>& pause, Index sequence, const std::vector<int>& mode_order) {
  const Stopwatch watch;
  RunState<Real> state;
  pause.save(state);
  auto manifest = identity_;
  manifest.sequence = sequence;
  manifest.iteration = pause.iteration;
  manifest.fit = pause.fit;
  manifest.mode_order = mode_order;
  manifest.num_vectors = state.num_vectors;
  manifest.num_columns = state.num_columns;
  try {
    write_parts(state, std::move(manifest));
    ++num_written_;
  } catch (const Error& error) {
    if (error.code() != Errc::io && error.code() != Errc::resource) throw;
    if (directory_) directory_->abandon();
    context_.warn(fmt::format("no checkpoint after {} {}: {}; the run goes on", identity_.step(),
                              pause.iteration, error.what()));
  }
  seconds_ += watch.seconds();
}

template RunRestart<float> Checkpoints::restart() const;
template RunRestart<double> Checkpoints::restart() const;
template void Checkpoints::write(const RunPause<float>&, Index, const std::vector<int>&);
template void Checkpoints::write(const RunPause<double>&, Index, const std::vector<int>&);

}  // namespace polyad::tasks
