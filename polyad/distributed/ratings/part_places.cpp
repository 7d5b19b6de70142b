#include "polyad/distributed/ratings/part_places.hpp"

#include <cassert>

namespace polyad {

int PartPlaces::process_of(int part) const {
  auto process = int(Index(part) * num_processes / num_parts);
  while (first(process) > part) --process;
  while (first(process + 1) <= part) ++process;
  return process;
}

PartPlaces places_of(const Comm& comm, int num_parts) {
  assert(num_parts == 0 || num_parts >= comm.size());
  return {num_parts == 0 ? comm.size() : num_parts, comm.size()};
}

}  // namespace polyad
