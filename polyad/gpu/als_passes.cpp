#include "polyad/gpu/als_passes.hpp"

#include <algorithm>
#include <compare>
#include <map>

#include "polyad/gpu/als_kernels.hpp"
#include "polyad/gpu/check_device.hpp"
#include "polyad/gpu/chunked_nonzeros.hpp"
#include "polyad/gpu/device.hpp"
#include "polyad/gpu/device_rows.hpp"
#include "polyad/kernels/cp/factor.hpp"

namespace polyad::gpu {
namespace {

template <class To, class From>
DeviceArray<To> packed(const From& values) {
  static_assert(sizeof(To) % sizeof(values[0]) == 0);
  DeviceArray<To> array(Index(values.size() * sizeof(values[0]) / sizeof(To)));
  copy_to_device(array.data(), values.data(), array.bytes());
  return array;
}

// The nonzeros of a mode on the GPU.
template <class Real>
class ModeChunks {
 public:
  explicit ModeChunks(const CsfTree<Real>& tree) : ModeChunks(ChunkedNonzeros<Real>(tree), tree.modes()) {}

  // m = the MTTKRP, of which all rows have nonzeros.
  void start_sums(const RowTables<Real>& tables, Columns<Real>* m, Columns<Real>* carries) const {
    start_chunk_sums(order_, view_, tables, m, carries);
    for (const auto& round : rounds_)
      start_carry_sums(round.data(), round.size(), tables.num_lanes, carries, carries);
    start_carry_sums(row_sums_.data(), row_sums_.size(), tables.num_lanes, carries, m);
  }

  const std::vector<int>& modes() const { return modes_; }  // [level]
  Index num_carries() const { return num_carries_; }
  Index num_slices() const { return rows_.size(); }
  // That a pass reads and writes: nonzeros, rows of factors, and carries and rows of sums.
  Index pass_bytes(Index row_bytes) const {
    Index bytes = values_.bytes() + closing_.bytes() + first_slice_.bytes() + rows_.bytes() + head_.bytes() +
                  tail_.bytes() + row_sums_.bytes();
    for (const auto& ids : ids_) bytes += ids.bytes();
    return bytes + (num_gathered_ + 2 * num_carries_ + num_slices()) * row_bytes;
  }

 private:
  ModeChunks(const ChunkedNonzeros<Real>& x, std::vector<int> modes)
      : modes_(std::move(modes)),
        order_(x.order),
        num_carries_(x.num_carries),
        num_gathered_(x.num_gathered),
        values_(packed<Pack<Real, batch_size>>(x.values)),
        closing_(packed<Pack<std::uint8_t, batch_size>>(x.closing)),
        first_slice_(std::span<const LocalIndex>(x.first_slice)),
        rows_(std::span<const LocalIndex>(x.rows)),
        head_(std::span<const std::int32_t>(x.head)),
        tail_(std::span<const std::int32_t>(x.tail)),
        row_sums_(std::span<const CarrySum>(x.row_sums)) {
    view_.num_chunks = LocalIndex(x.num_chunks);
    view_.batches_per_chunk = LocalIndex(x.chunk_size / batch_size);
    for (int level = 1; level < x.order; ++level)
      view_.ids[level] = ids_.emplace_back(packed<Pack<LocalIndex, batch_size>>(x.ids[level])).data();
    for (const auto& round : x.rounds) rounds_.emplace_back(std::span<const CarrySum>(round));
    view_.values = values_.data();
    view_.closing = closing_.data();
    view_.first_slice = first_slice_.data();
    view_.rows = rows_.data();
    view_.head = head_.data();
    view_.tail = tail_.data();
  }

  std::vector<int> modes_;
  int order_;
  Index num_carries_, num_gathered_;
  DeviceArray<Pack<Real, batch_size>> values_;
  std::vector<DeviceArray<Pack<LocalIndex, batch_size>>> ids_;
  DeviceArray<Pack<std::uint8_t, batch_size>> closing_;
  DeviceArray<LocalIndex> first_slice_, rows_;
  DeviceArray<std::int32_t> head_, tail_;
  std::vector<DeviceArray<CarrySum>> rounds_;
  DeviceArray<CarrySum> row_sums_;
  ChunkView<Real> view_;
};

template <class Real>
class Passes final : public AlsPasses<Real> {
 public:
  Passes(int device, std::span<const ModeNonzeros<Real>> modes, Index num_columns, Index num_message_words)
      : device_(device),
        num_columns_(num_columns),
        num_lanes_(int(num_columns) / lane_width<Real>),
        messages_(num_message_words),
        system_(Index(2) * (num_columns + 1) * num_columns),
        sums_(num_sums(num_columns)) {
    Index max_rows = 0, max_carries = 0;
    for (const auto& mode : modes) {
      factors_.emplace_back(mode.num_rows * num_lanes_);
      chunks_.emplace_back(*mode.tree);
      max_rows = std::max(max_rows, mode.num_rows);
      max_carries = std::max(max_carries, chunks_.back().num_carries());
    }
    summing_.resize(modes.size());
    m_ = DeviceArray<Columns<Real>>(max_rows * num_lanes_);
    carries_ = DeviceArray<Columns<Real>>(max_carries * num_lanes_);
    device_system_ = DeviceArray<Real>(std::ssize(system_.values()));
    block_sums_ = DeviceArray<double>(max_blocks * num_sums(num_columns));
  }

  void put_rows(int mode, const Matrix<Real>& factor) override {
    use_device(device_);
    copy_to_device(factors_[mode].data(), factor.flat().data(), Index(factor.flat().size_bytes()));
  }
  void get_rows(int mode, Matrix<Real>& factor, Index num_rows) override {
    use_device(device_);
    copy_to_host(factor.flat().data(), factors_[mode].data(), num_rows * row_bytes());
  }

  void start_sums(int mode) override {
    use_device(device_);
    const auto& chunks = chunks_[mode];
    RowTables<Real> tables;
    tables.num_lanes = num_lanes_;
    for (std::size_t level = 1; level < chunks.modes().size(); ++level)
      tables.rows[level] = factors_[chunks.modes()[level]].data();
    summing_[mode].start([&] {
      if (chunks.num_slices() * num_lanes_ < factors_[mode].size())
        fill_with_zeros(m_.data(), factors_[mode].bytes());
      chunks.start_sums(tables, m_.data(), carries_.data());
    });
  }

  std::unique_ptr<RowPlace<Real>> rows_of(int mode, Index num_components, MessageMemory memory) override {
    return std::make_unique<DeviceRows<Real>>(
        RowTable<Real>{.device = device_,
                       .sums = reinterpret_cast<Real*>(m_.data()),
                       .factor = reinterpret_cast<Real*>(factors_[mode].data()),
                       .num_columns = num_columns_,
                       .num_components = num_components,
                       .messages = messages_.data()},
        memory);
  }
  void copy_fast(std::span<const std::byte> memory, FastCopies::Access access) override {
    use_device(device_);
    fast_copies_.emplace_back(memory, access);
  }
  std::span<Real> messages() override { return {messages_.data(), std::size_t(messages_.size())}; }

  void start_update(int mode, const kernels::RowSystem& system, Index begin, Index end) override {
    use_device(device_);
    const Index system_bytes = fill_system(system);
    const auto* numbers = reinterpret_cast<const Columns<Real>*>(device_system_.data());
    const Index matrix = num_columns_ * num_lanes_;
    const RowUpdate<Real> update{.begin = begin,
                                 .end = end,
                                 .m = m_.data(),
                                 .factor = factors_[mode].data(),
                                 .num_lanes = num_lanes_,
                                 .kind = system.kind,
                                 .inverse = numbers,
                                 .v = numbers + matrix,
                                 .start = numbers + 2 * matrix,
                                 .scale = numbers + 2 * matrix + num_lanes_,
                                 .block_sums = block_sums_.data()};
    updating_[{mode, system.kind, begin, end}].start([&] {
      copy_to_device(device_system_.data(), system_.values().data(), system_bytes);
      const int num_blocks = start_row_update(update);
      start_block_sums(block_sums_.data(), num_blocks, std::ssize(sums_.values()), sums_.values().data());
    });
    updated_.record();
  }

  kernels::RowSums finish_update() override {
    updated_.wait();
    const auto values = sums_.values();
    kernels::RowSums sums{Matrix<double>(num_columns_, num_columns_), values.back()};
    auto next = values.begin();
    for (Index top = 0; top < num_columns_; top += gram_tile)
      for (Index left = top; left < num_columns_; left += gram_tile)
        for (Index i = top; i < top + gram_tile; ++i)
          for (Index j = left; j < left + gram_tile; ++j) sums.gram(i, j) = sums.gram(j, i) = *next++;
    return sums;
  }

  // An update reads sums and writes rows.
  Index bytes_per_iteration() const override {
    Index bytes = 0;
    for (const auto& chunks : chunks_) bytes += chunks.pass_bytes(row_bytes());
    for (const auto& factor : factors_) bytes += 2 * factor.bytes();
    return bytes;
  }

 private:
  Index row_bytes() const { return num_columns_ * Index(sizeof(Real)); }

  // Returns the number of bytes to be copied to the GPU, which the kind decides. The last system was read
  // before the sums of its rows were waited for.
  Index fill_system(const kernels::RowSystem& system) {
    using Kind = kernels::RowSystem::Kind;
    auto next = system_.values().begin();
    const auto put = [&](auto numbers) {
      next = std::ranges::transform(numbers, next, [](double x) { return Real(x); }).out;
    };
    if (system.kind == Kind::descend)
      next += num_columns_ * num_columns_;  // has no inverse
    else
      put(system.inverse.flat());
    if (system.kind != Kind::solve) {
      put(system.v.flat());
      put(std::span(system.start));
      put(std::span(system.scale));
    }
    return Index(next - system_.values().begin()) * Index(sizeof(Real));
  }

  int device_;
  Index num_columns_;
  int num_lanes_;
  std::vector<DeviceArray<Columns<Real>>> factors_;
  std::vector<ModeChunks<Real>> chunks_;
  DeviceArray<Columns<Real>> m_, carries_;
  DeviceArray<Real> device_system_;
  DeviceArray<double> block_sums_;
  DeviceArray<Real> messages_;
  std::vector<FastCopies> fast_copies_;
  PinnedArray<Real> system_;
  PinnedArray<double> sums_;
  Event updated_;
  std::vector<Recording> summing_;  // [mode]
  struct UpdateKey {
    int mode;
    kernels::RowSystem::Kind kind;
    Index begin, end;
    friend auto operator<=>(const UpdateKey&, const UpdateKey&) = default;
  };
  std::map<UpdateKey, Recording> updating_;
};

}  // namespace

void check_passes(int device, std::span<const ModeCounts> modes, Index num_components, Index value_bytes,
                  const ExchangeRoom& room) {
  check_device(device, num_components, value_bytes, [&](Index number, Index bytes_of_value) {
    const ExchangeRoom of_messages{room.num_words / num_components * number, room.num_listed_rows};
    return passes_bytes(modes, kernels::padded_components(number), bytes_of_value) +
           of_messages.bytes(bytes_of_value);
  });
}

template <class Real>
std::unique_ptr<AlsPasses<Real>> make_passes(int device, std::span<const ModeNonzeros<Real>> modes,
                                             Index num_components, const ExchangeRoom& room) {
  std::vector<ModeCounts> counts;
  for (const auto& mode : modes) counts.push_back({mode.tree->num_nonzeros(), mode.num_rows});
  check_passes(device, counts, num_components, sizeof(Real), room);
  use_device(device);
  return std::make_unique<Passes<Real>>(device, modes, kernels::padded_components(num_components),
                                        room.num_words);
}

template std::unique_ptr<AlsPasses<float>> make_passes(int, std::span<const ModeNonzeros<float>>, Index,
                                                       const ExchangeRoom&);
template std::unique_ptr<AlsPasses<double>> make_passes(int, std::span<const ModeNonzeros<double>>, Index,
                                                        const ExchangeRoom&);

}  // namespace polyad::gpu
