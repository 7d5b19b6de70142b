#include <fmt/format.h>
#include <mtkahypar.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>

#include "polyad/base/error.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/hypergraph/external_partitioner.hpp"

namespace polyad::hypergraph {
namespace {

// What went wrong in a call, in its words.
class Fault {
 public:
  Fault() = default;
  ~Fault() {
    if (error_.status != SUCCESS) mt_kahypar_free_error_content(&error_);
  }
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;

  mt_kahypar_error_t* place() { return &error_; }
  void check(const char* what) const {
    if (error_.status != SUCCESS)
      throw Error(Errc::internal, std::string("Mt-KaHyPar failed (") + what +
                                      "): " + (error_.msg ? error_.msg : "no reason given"));
  }

 private:
  mt_kahypar_error_t error_{nullptr, 0, SUCCESS};
};

struct ContextEnd {
  void operator()(mt_kahypar_context_t* context) const { mt_kahypar_free_context(context); }
};
using Context = std::unique_ptr<mt_kahypar_context_t, ContextEnd>;

Context make_context(const PartitionOptions& options) {
  constexpr int max_for_default = 256;  // the preset default did not finish with 512
  Context context(mt_kahypar_context_from_preset(options.num_parts > max_for_default ? LARGE_K : DEFAULT));
  mt_kahypar_set_partitioning_parameters(context.get(), options.num_parts, options.imbalance, KM1);
  Fault fault;
  mt_kahypar_set_context_parameter(context.get(), VERBOSE, "0", fault.place());
  fault.check("its parameters");
  mt_kahypar_set_seed(options.seed);
  return context;
}

// Mt-KaHyPar sums weights in 31 bits.
void check_weights(const Hypergraph& h) {
  double cut = 0;
  for (Index net = 0; net < h.num_nets(); ++net) cut += double(h.net_weight(net)) * double(h.net_size(net));
  const double maximum = std::max(cut, double(total_weight(h, 0)));
  if (maximum > std::numeric_limits<int>::max())
    throw Error(Errc::resource,
                fmt::format("Mt-KaHyPar supports weights of at most 31 bits; these sum to {:.0f}", maximum));
}

// The hypergraph for Mt-KaHyPar: without nets that cannot be cut.
class TheirHypergraph {
 public:
  TheirHypergraph(const Hypergraph& h, const mt_kahypar_context_t& context) {
    std::vector<std::size_t> begin{0};
    std::vector<mt_kahypar_hypernode_id_t> pins;
    std::vector<mt_kahypar_hyperedge_weight_t> net_weights;
    std::vector<mt_kahypar_hypernode_weight_t> vertex_weights;
    pins.reserve(std::size_t(h.num_pins()));
    for (Index net = 0; net < h.num_nets(); ++net) {
      if (h.net_size(net) < 2) continue;
      pins.insert(pins.end(), h.pins(net).begin(), h.pins(net).end());
      begin.push_back(pins.size());
      net_weights.push_back(int(h.net_weight(net)));
    }
    for (Index v = 0; v < h.num_vertices(); ++v) vertex_weights.push_back(int(h.vertex_weight(v)));
    Fault fault;
    theirs_ = mt_kahypar_create_hypergraph(&context, mt_kahypar_hypernode_id_t(h.num_vertices()),
                                           net_weights.size(), begin.data(), pins.data(), net_weights.data(),
                                           vertex_weights.data(), fault.place());
    fault.check("the hypergraph");
  }
  ~TheirHypergraph() { mt_kahypar_free_hypergraph(theirs_); }
  TheirHypergraph(const TheirHypergraph&) = delete;
  TheirHypergraph& operator=(const TheirHypergraph&) = delete;

  std::vector<int> partition(const mt_kahypar_context_t& context) {
    Fault fault;
    const auto partitioned = mt_kahypar_partition(theirs_, &context, fault.place());
    fault.check("partitioning");
    std::vector<int> parts(std::size_t(mt_kahypar_num_hypernodes(theirs_)));
    mt_kahypar_get_partition(partitioned, parts.data());
    mt_kahypar_free_partitioned_hypergraph(partitioned);
    return parts;
  }

 private:
  mt_kahypar_hypergraph_t theirs_{};
};

}  // namespace

bool has_mt_kahypar() {
  return true;
}

PartitionResult partition_by_mt_kahypar(const Hypergraph& h, const PartitionOptions& options) {
  check_outside("Mt-KaHyPar", h, options);
  check_weights(h);
  std::vector<int> parts(std::size_t(h.num_vertices()), 0);
  if (options.num_parts > 1 && h.num_vertices() > 0) {
    mt_kahypar_initialize(std::size_t(num_threads()), false);
    const auto context = make_context(options);
    parts = TheirHypergraph(h, *context).partition(*context);
  }
  auto metrics = measure_partition(h, parts, options.num_parts, options.objective.rho);
  return {std::move(parts), std::move(metrics), false};
}

}  // namespace polyad::hypergraph
