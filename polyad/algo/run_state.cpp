#include "polyad/algo/run_state.hpp"

#include <algorithm>

#include "polyad/base/error.hpp"

namespace polyad {
namespace {

[[noreturn]] void refuse_numbers() {
  throw Error(Errc::bad_input, "the numbers are not those of a run with these options");
}

}  // namespace

RunRequests add_up_with_requests(const Comm& comm, std::vector<double>& sums, const AskProcess& ask) {
  const auto own = ask ? ask() : RunRequests{};
  const auto count = sums.size();
  sums.insert(sums.end(), {own.stops, own.runs_out, own.saves});
  comm.all_reduce(std::span(sums));
  const RunRequests all{sums[count], sums[count + 1], sums[count + 2]};
  sums.resize(count);
  return all;
}

void StateNumbers::put_list(std::span<const double> numbers) {
  put(double(numbers.size()));
  values_.insert(values_.end(), numbers.begin(), numbers.end());
}

double StateNumbers::take() {
  if (next_ == values_.size()) refuse_numbers();
  return values_[next_++];
}

std::vector<double> StateNumbers::take_list() {
  const double length = take();
  if (!(length >= 0 && length <= double(values_.size() - next_))) refuse_numbers();
  std::vector<double> numbers(std::size_t(length), 0.0);
  std::copy_n(values_.begin() + std::ptrdiff_t(next_), numbers.size(), numbers.begin());
  next_ += numbers.size();
  return numbers;
}

void StateNumbers::take_list(std::span<double> into) {
  const auto numbers = take_list();
  if (numbers.size() != into.size()) refuse_numbers();
  std::ranges::copy(numbers, into.begin());
}

}  // namespace polyad
