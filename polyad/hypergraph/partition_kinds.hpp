#pragma once

#include <array>
#include <string>

namespace polyad::hypergraph {

// What is assigned to parts.
enum class PartitionModel {
  fine,           // single nonzeros
  coarse,         // whole slices of every mode
  row,            // the rows of a matrix
  column,         // the columns of a matrix
  fine_with_rows  // single nonzeros and, apart from them, the factor rows of every mode
};
std::string to_string(PartitionModel model);
inline constexpr std::array all_partition_models{PartitionModel::fine, PartitionModel::coarse,
                                                 PartitionModel::row, PartitionModel::column,
                                                 PartitionModel::fine_with_rows};

// What is balanced between the parts of whole slices.
enum class SliceWeights {
  per_mode,  // the nonzeros of each mode's slices for themselves, as CP-ALS needs it
  together   // the nonzeros of the slices of all modes together, as CP-OPT needs it
};
std::string to_string(SliceWeights weights);
inline constexpr std::array all_slice_weights{SliceWeights::per_mode, SliceWeights::together};

enum class PartitionMethod {
  hypergraph,  // multilevel hypergraph partitioning, also from the tilings of a tensor
  bisection,   // the same by recursive bisection
  block,       // consecutive slices or rows
  random,      // a random permutation
  zoltan,      // the partitioner PHG of Zoltan, where the library was built with it
  mt_kahypar   // Mt-KaHyPar, where the library was built with it
};
std::string to_string(PartitionMethod method);
inline constexpr std::array all_partition_methods{PartitionMethod::hypergraph, PartitionMethod::bisection,
                                                  PartitionMethod::block,      PartitionMethod::random,
                                                  PartitionMethod::zoltan,     PartitionMethod::mt_kahypar};

// How much time partitioning takes for a better result.
enum class Effort {
  fast,    // two random starts
  normal,  // three random starts and a V-cycle
  best     // eight random starts and five V-cycles
};
std::string to_string(Effort effort);
inline constexpr std::array all_efforts{Effort::fast, Effort::normal, Effort::best};

inline constexpr int max_parts = 65535;

}  // namespace polyad::hypergraph
