#include "polyad/distributed/routed_exchange.hpp"

#include <cassert>
#include <span>

namespace polyad {
namespace {

std::span<const ExchangePlan> stages_of(const ExchangePlan& plan) {
  return plan.stages.empty() ? std::span(&plan, 1) : std::span(plan.stages);
}

}  // namespace

template <class Real>
Index RoutedExchange<Real>::num_words_under_way(const ExchangePlan& plan, Index num_components,
                                                SentRows sent) {
  Index sum = 0;
  for (const auto& stage : stages_of(plan))
    sum += RowExchange<Real>::num_words_under_way(stage, num_components, sent);
  return sum;
}

template <class Real>
Index RoutedExchange<Real>::num_listed_rows(const ExchangePlan& plan) {
  Index sum = 0;
  for (const auto& stage : stages_of(plan)) sum += std::ssize(stage.lent);
  return sum;
}

template <class Real>
RoutedExchange<Real>::RoutedExchange(const Comm& comm, const ExchangePlan& plan, Rows rows, int tag) {
  constexpr int max_stages_of_mode = 32;
  const auto stages = stages_of(plan);
  assert(std::ssize(stages) <= max_stages_of_mode);
  if (stages.size() > 1) rows.partial_pages = nullptr;  // a stage lends rows that it has just received
  for (std::size_t s = 0; s < stages.size(); ++s) {
    stages_.emplace_back(comm, stages[s], rows, tag * max_stages_of_mode + int(s));
    if (rows.buffer != nullptr) rows.first_word += stages_.back().num_words();
  }
}

template <class Real>
void RoutedExchange<Real>::finish_folding() {
  stages_.front().finish_folding();
  for (auto& stage : std::span(stages_).subspan(1)) stage.fold();
}

template <class Real>
void RoutedExchange<Real>::finish_expanding() {
  stages_.back().finish_expanding();
  for (std::size_t s = stages_.size() - 1; s-- > 0;) {
    stages_[s].start_expanding();
    stages_[s].finish_expanding();
  }
}

template <class Real>
std::vector<Traffic> RoutedExchange<Real>::sent_by_stage() const {
  std::vector<Traffic> sent;
  for (const auto& stage : stages_) sent.push_back(stage.sent());
  return sent;
}

template <class Real>
double RoutedExchange<Real>::copying_seconds() const {
  double seconds = 0;
  for (const auto& stage : stages_) seconds += stage.copying_seconds();
  return seconds;
}

template class RoutedExchange<float>;
template class RoutedExchange<double>;

}  // namespace polyad
