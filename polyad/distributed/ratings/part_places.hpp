#pragma once

#include <span>
#include <vector>

#include "polyad/base/parallel.hpp"
#include "polyad/comm/comm.hpp"

namespace polyad {

// Which process has which parts of distributed ratings: consecutive ones, about as many as the others. There
// are as many parts as processes, and each process has one, unless more are asked for: then a process acts
// for several, in turn, and the result is that of as many processes as there are parts.
struct PartPlaces {
  int num_parts = 1, num_processes = 1;

  int first(int process) const { return int(part_begin(num_parts, process, num_processes)); }
  int count(int process) const { return first(process + 1) - first(process); }
  int process_of(int part) const;
};

// num_parts: at least as many as processes; 0: as many.
PartPlaces places_of(const Comm& comm, int num_parts);

// What all parts have, in their order, given what those of this process have. Sums over it in this order do
// not depend on the number of processes. Collective.
template <class T>
std::vector<T> gather_by_part(const Comm& comm, const PartPlaces& places, const std::vector<T>& own) {
  std::vector<Index> counts;
  for (int process = 0; process < comm.size(); ++process) counts.push_back(places.count(process));
  std::vector<T> all(std::size_t(places.num_parts), T{});
  comm.all_gather_varying(std::span<const T>(own), counts, std::span<T>(all));
  return all;
}

// Calls fn(i) for each of the parts of a process: with a thread for each if there are enough of them, else
// in turn, with all threads for what fn does.
template <class Fn>
void for_each_part(Index num_parts, Fn fn) {
  if (num_parts > 1 && num_parts >= num_threads())
    parallel_for(num_parts, fn);
  else
    for (Index i = 0; i < num_parts; ++i) fn(i);
}

}  // namespace polyad
