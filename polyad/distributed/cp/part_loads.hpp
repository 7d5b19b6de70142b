#pragma once

#include <vector>

#include "polyad/distributed/cp/distribution.hpp"
#include "polyad/distributed/cp/greedy_owners.hpp"

namespace polyad {

// What one mode asks of one part in an iteration, in rows: a row has as many words as there are components.
struct PartLoad {
  Index nonzeros = 0;            // that it multiplies
  Index touched = 0;             // rows of the mode that its nonzeros of any mode have
  Index local = 0;               // rows that it holds: touched or owned
  Index owned = 0;               // rows that it solves
  Index reduced = 0;             // rows that are all-reduced instead of exchanged
  Index sent = 0, received = 0;  // by fold and expand together
  Index messages = 0;            // that it sends

  friend bool operator==(const PartLoad&, const PartLoad&) = default;
};
using PartLoads = std::vector<std::vector<PartLoad>>;  // [mode][part]

// Turns the loads of a mode into those it has when all parts have all its rows.
void replicate(std::vector<PartLoad>& loads);

// Says what distributions of a tensor ask of their parts, without moving anything and for any number of
// parts. With a fraction below 1 only so many of the rows of each mode are looked at, whole, and stand for
// all: quick, and near the truth. Memory is linear in the nonzeros, for any number of parts.
class LoadPlanner {
 public:
  // Every process has a share; one process may have it all, and then a fraction of 1 is exact. Nonzeros that
  // occur twice count twice, unless those after the first are named as `repeated`. Collective.
  LoadPlanner(const Comm& comm, const SparseTensor<double>& share, double fraction = 1,
              std::vector<Index> repeated = {});

  // Collective. On several processes greedy owners are predicted range by range of rows, which is near to
  // what own_greedily says.
  PartLoads loads(const Distribution& distribution) const;

 private:
  using Parts = Array<int>;  // [nonzero]

  // Nonzeros by their row: those of rows[i] are nonzeros[begin[i]], ..., nonzeros[begin[i + 1] - 1].
  struct RowGroups {
    Array<Index> rows;  // ascending
    std::vector<Index> begin;
    Array<Index> nonzeros;
  };
  static RowGroups group_by_row(const SparseTensor<double>& share, int mode, double fraction);
  Parts parts_of(const NonzeroOwners& owners) const;
  std::vector<Index> count_nonzeros(const Parts& parts, int num_parts) const;
  RowParts rows_and_parts(int mode, const std::vector<Parts>& parts, int num_parts) const;

  Comm comm_;
  const SparseTensor<double>& share_;
  double fraction_;
  std::vector<Index> repeated_;
  std::vector<RowGroups> groups_;  // [mode]: of the rows that are looked at
};

}  // namespace polyad
