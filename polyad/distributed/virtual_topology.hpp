#pragma once

#include <span>
#include <vector>

namespace polyad {

// Ranks as numbers with several digits, for rows that reach their owner in as many stages: in each stage one
// digit of the place of the row becomes that of the owner, the last digit last. With S stages a process has
// about S P^(1/S) partners instead of up to P. Any number of ranks has its digits: places that no rank has,
// because the last digit is not used up, are stood in for by the places of the preceding last digit.
class VirtualTopology {
 public:
  // `layer`, [rank]: rows stay, if they can, among the ranks of a layer: the digits are those of the place
  // within it, and the last also tells the layers apart. `machine`, [rank]: if every machine has equally many
  // ranks of every layer, the first digit is the place within the machine, which the first stage then does
  // not leave. Empty: one layer, one machine.
  VirtualTopology(int num_ranks, int num_stages, std::span<const int> layer, std::span<const int> machine);

  int num_ranks() const { return int(ranks_.size()); }
  int num_stages() const { return int(digits_.size()); }
  // [stage]: how many values the digit has
  const std::vector<int>& digits() const { return digits_; }

  // The digit of a rank that is corrected in a stage, from 0.
  int digit(int rank, int stage) const { return places_[rank] / units_[stage] % digits_[stage]; }
  // To which rank `from` passes a row on in a stage that is on its way to `to`; `from`, if it keeps it.
  // Applied for all stages one after the other it ends with `to`.
  int next(int from, int to, int stage) const {
    return stage + 1 == num_stages() ? to : next_by_digit(from, digit(to, stage), stage);
  }
  // The same from the digit of `to`, if `from` has its other digits already in the last stage.
  int next_by_digit(int from, int digit_of_to, int stage) const;

 private:
  void choose_digits(int num_ranks_of_layer, int num_of_machine, int num_stages);

  std::vector<int> places_, ranks_;  // [rank]: its place; [place]: the rank
  std::vector<int> digits_, units_;  // [stage]; a unit is the product of all digits before
};

// The largest number of stages for so many ranks: ceil(log2), at least 1.
int max_stages(int num_ranks);

// `num_digits` numbers of values, of at least 2 each unless there is one digit, whose product is at least
// `count` and whose sum is the least; of equal sums one without surplus, if there is any. The last is the
// smallest that suffices.
std::vector<int> even_digits(int count, int num_digits);

}  // namespace polyad
