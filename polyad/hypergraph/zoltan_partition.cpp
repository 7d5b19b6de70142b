#include <zoltan.h>  // includes mpi.h: Zoltan needs a communicator, which is this process only

#include <array>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>

#include "polyad/base/error.hpp"
#include "polyad/hypergraph/external_partitioner.hpp"

namespace polyad::hypergraph {

namespace {

const Hypergraph& hypergraph(const void* data) {
  return *static_cast<const Hypergraph*>(data);
}

// The callbacks of Zoltan, with its names.

int count_vertices(void* data, int* error) {
  *error = ZOLTAN_OK;
  return int(hypergraph(data).num_vertices());
}

void list_vertices(void* data, int /*gid_entries*/, int /*lid_entries*/, ZOLTAN_ID_PTR ids,
                   ZOLTAN_ID_PTR local_ids, int weight_dim, float* weights, int* error) {
  const auto& h = hypergraph(data);
  for (Index v = 0; v < h.num_vertices(); ++v) {
    ids[v] = local_ids[v] = ZOLTAN_ID_TYPE(v);
    if (weight_dim > 0) weights[v] = float(h.vertex_weight(v));
  }
  *error = ZOLTAN_OK;
}

void count_pins(void* data, int* num_lists, int* num_pins, int* format, int* error) {
  *num_lists = int(hypergraph(data).num_vertices());
  *num_pins = int(hypergraph(data).num_pins());
  *format = ZOLTAN_COMPRESSED_VERTEX;
  *error = ZOLTAN_OK;
}

void list_pins(void* data, int /*gid_entries*/, int /*num_lists*/, int /*num_pins*/, int /*format*/,
               ZOLTAN_ID_PTR vertices, int* begin, ZOLTAN_ID_PTR nets, int* error) {
  const auto& h = hypergraph(data);
  int next = 0;
  for (Index v = 0; v < h.num_vertices(); ++v) {
    vertices[v] = ZOLTAN_ID_TYPE(v);
    begin[v] = next;
    for (const auto net : h.nets(v)) nets[next++] = ZOLTAN_ID_TYPE(net);
  }
  *error = ZOLTAN_OK;
}

void count_net_weights(void* data, int* count, int* error) {
  *count = int(hypergraph(data).num_nets());
  *error = ZOLTAN_OK;
}

void list_net_weights(void* data, int /*gid_entries*/, int /*lid_entries*/, int /*count*/, int /*weight_dim*/,
                      ZOLTAN_ID_PTR nets, ZOLTAN_ID_PTR local_ids, float* weights, int* error) {
  const auto& h = hypergraph(data);
  for (Index net = 0; net < h.num_nets(); ++net) {
    nets[net] = local_ids[net] = ZOLTAN_ID_TYPE(net);
    weights[net] = float(h.net_weight(net));
  }
  *error = ZOLTAN_OK;
}

class Zoltan {
 public:
  Zoltan() {
    float version = 0;
    check(Zoltan_Initialize(0, nullptr, &version), "Zoltan_Initialize");
    zoltan_ = Zoltan_Create(MPI_COMM_SELF);
    check(zoltan_ == nullptr ? ZOLTAN_FATAL : ZOLTAN_OK, "Zoltan_Create");
  }
  ~Zoltan() { Zoltan_Destroy(&zoltan_); }
  Zoltan(const Zoltan&) = delete;
  Zoltan& operator=(const Zoltan&) = delete;

  void set(const char* name, const std::string& value) {
    check(Zoltan_Set_Param(zoltan_, name, value.c_str()), name);
  }

  // The hypergraph must outlive the partitioning.
  void ask(const Hypergraph& h) {
    auto* data = const_cast<Hypergraph*>(&h);  // passed back by Zoltan; the callbacks do not change it
    check(Zoltan_Set_Num_Obj_Fn(zoltan_, count_vertices, data), "the number of vertices");
    check(Zoltan_Set_Obj_List_Fn(zoltan_, list_vertices, data), "the vertices");
    check(Zoltan_Set_HG_Size_CS_Fn(zoltan_, count_pins, data), "the number of pins");
    check(Zoltan_Set_HG_CS_Fn(zoltan_, list_pins, data), "the pins");
    if (!h.has_net_weights()) return;
    check(Zoltan_Set_HG_Size_Edge_Wts_Fn(zoltan_, count_net_weights, data), "the number of nets");
    check(Zoltan_Set_HG_Edge_Wts_Fn(zoltan_, list_net_weights, data), "the weights of nets");
  }

  std::vector<int> partition(Index num_vertices) {
    int changes = 0, gid_entries = 0, lid_entries = 0;
    Lists in, out;
    const int error = Zoltan_LB_Partition(zoltan_, &changes, &gid_entries, &lid_entries, &in.count, &in.ids,
                                          &in.local_ids, &in.processes, &in.parts, &out.count, &out.ids,
                                          &out.local_ids, &out.processes, &out.parts);
    check(error, "Zoltan_LB_Partition");
    if (out.count != num_vertices)
      throw Error(Errc::internal, "Zoltan gave parts to " + std::to_string(out.count) + " vertices of " +
                                      std::to_string(num_vertices));
    std::vector<int> parts(std::size_t(num_vertices), 0);
    for (int i = 0; i < out.count; ++i) parts[out.ids[i]] = out.parts[i];
    return parts;
  }

 private:
  struct Lists {
    int count = 0;
    ZOLTAN_ID_PTR ids = nullptr, local_ids = nullptr;
    int *processes = nullptr, *parts = nullptr;

    Lists() = default;
    ~Lists() { Zoltan_LB_Free_Part(&ids, &local_ids, &processes, &parts); }
    Lists(const Lists&) = delete;
    Lists& operator=(const Lists&) = delete;
  };

  static void check(int error, const std::string& what) {
    if (error == ZOLTAN_MEMERR) throw Error(Errc::resource, "Zoltan ran out of memory");
    if (error != ZOLTAN_OK && error != ZOLTAN_WARN)
      throw Error(Errc::internal, "Zoltan failed (" + what + "); its own words are above");
  }

  Zoltan_Struct* zoltan_ = nullptr;
};

}  // namespace

bool has_zoltan() {
  return true;
}

PartitionResult partition_by_zoltan(const Hypergraph& h, const PartitionOptions& options) {
  check_outside("Zoltan", h, options);
  std::vector<int> parts(std::size_t(h.num_vertices()), 0);
  if (options.num_parts > 1 && h.num_vertices() > 0) {
    Zoltan zoltan;
    // Without the scaling and with the default threshold, which leaves large nets out, its cuts are several
    // times as large; the default approach looks for a partition near one that there is.
    const std::array<std::pair<const char*, std::string>, 14> parameters{{
        {"DEBUG_LEVEL", "0"},
        {"LB_METHOD", "HYPERGRAPH"},
        {"HYPERGRAPH_PACKAGE", "PHG"},
        {"LB_APPROACH", "PARTITION"},
        {"OBJ_WEIGHT_DIM", h.has_vertex_weights() ? "1" : "0"},
        {"EDGE_WEIGHT_DIM", h.has_net_weights() ? "1" : "0"},
        {"PHG_CUT_OBJECTIVE", "CONNECTIVITY"},
        {"PHG_EDGE_SIZE_THRESHOLD", "1.0"},
        {"PHG_EDGE_SCALING", "1"},
        {"CHECK_HYPERGRAPH", "0"},
        {"RETURN_LISTS", "PARTS"},
        {"NUM_GLOBAL_PARTS", std::to_string(options.num_parts)},
        {"IMBALANCE_TOL", std::to_string(1 + options.imbalance)},
        {"SEED", std::to_string(options.seed % std::numeric_limits<int>::max())},
    }};
    for (const auto& [name, value] : parameters) zoltan.set(name, value);
    zoltan.ask(h);
    parts = zoltan.partition(h.num_vertices());
  }
  auto metrics = measure_partition(h, parts, options.num_parts, options.objective.rho);
  return {std::move(parts), std::move(metrics), false};
}

}  // namespace polyad::hypergraph
