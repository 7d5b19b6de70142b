#include "polyad/io/models/rating_archive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "polyad/base/error.hpp"
#include "polyad/io/arrays/npy_array.hpp"
#include "polyad/io/arrays/npy_head.hpp"
#include "polyad/io/bytes/zip_writer.hpp"
#include "polyad/io/models/value_record.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::io {
namespace {

constexpr double max_epochs = 0x1p53;  // beyond it not every whole number is a double

// The arrays of an archive by name.
class Arrays {
 public:
  explicit Arrays(const InputFile& file) : file_(file), members_(read_zip_directory(file)) {}

  bool has(const std::string& name) const { return find(name) != members_.end(); }
  double number(const std::string& name) const { return read_npy_number(file_, member(name), name); }
  template <class Real>
  Matrix<Real> matrix(const std::string& name) const {
    return read_npy<Real>(file_, member(name), name, 2);
  }
  Index width(const std::string& name) const { return npy_width(file_, member(name), name); }
  // Empty when there is none of this name.
  template <class Real>
  Array<Real> list(const std::string& name) const {
    if (!has(name)) return {};
    const auto column = read_npy<Real>(file_, member(name), name, 1);
    return {column.flat().begin(), column.flat().end()};
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(Errc::bad_input, why, {file_.path().string(), 0});
  }

 private:
  std::vector<ZipMember>::const_iterator find(const std::string& name) const {
    return std::ranges::find(members_, name + ".npy", &ZipMember::name);
  }
  const ZipMember& member(const std::string& name) const {
    if (!has(name)) fail(name + " is missing: a model of ratings has it");
    return *find(name);
  }

  const InputFile& file_;
  std::vector<ZipMember> members_;
};

// Lists with an entry per user and per item: both or neither.
struct ListPair {
  std::string users, items;
  Index num_users = 0, num_items = 0;  // entries
};

std::string fault_of_list(const std::string& name, Index count, const std::string& matrix, Index rows) {
  if (count == rows) return "";
  return fmt::format("{} has {}, but {} has {}", name, counted(count, "number"), matrix,
                     counted(rows, "row"));
}

std::string fault_of_lists(const ListPair& lists, Index users, Index items) {
  if (lists.num_users == 0 && lists.num_items == 0) return "";
  if (lists.num_users == 0 || lists.num_items == 0)
    return fmt::format("{} is missing, but {} is there", lists.num_users == 0 ? lists.users : lists.items,
                       lists.num_users == 0 ? lists.items : lists.users);
  if (auto fault = fault_of_list(lists.users, lists.num_users, "user_factors", users); !fault.empty())
    return fault;
  return fault_of_list(lists.items, lists.num_items, "item_factors", items);
}

template <class Real>
std::string fault_of_numbers(const std::string& name, std::span<const Real> numbers) {
  const auto bad = std::ranges::find_if_not(numbers, [](Real x) { return std::isfinite(x); });
  if (bad == numbers.end()) return "";
  return fmt::format("number {} of {} is '{}', not finite", bad - numbers.begin() + 1, name, double(*bad));
}

std::string fault_of_size(const std::string& name, double number) {
  if (number >= 0 && std::isfinite(number)) return "";
  return fmt::format("{} is {}, expected a number from 0 on", name, number);
}

template <class Real>
std::string fault_of_shapes(const RatingModel<Real>& model, const RatingTraining<Real>& training) {
  if (model.num_users() == 0 || model.num_items() == 0) return "the model has no users or no items";
  if (model.num_factors() == 0) return "the model has no factors";
  if (model.items.num_cols() != model.num_factors())
    return fmt::format("item_factors has {}, but user_factors has {}",
                       counted(model.items.num_cols(), "column"), model.num_factors());
  const ListPair biases{"user_biases", "item_biases", std::ssize(model.user_biases),
                        std::ssize(model.item_biases)};
  const ListPair squares{"user_squares", "item_squares", std::ssize(training.user_squares),
                         std::ssize(training.item_squares)};
  if (auto fault = fault_of_lists(biases, model.num_users(), model.num_items()); !fault.empty()) return fault;
  return fault_of_lists(squares, model.num_users(), model.num_items());
}

template <class Real>
std::string fault_of_list_model(const RatingModel<Real>& model, const ListModel<Real>& lists) {
  const auto& [users, items] = std::pair(lists.model.num_users(), lists.model.num_items());
  if (auto fault = fault_of_list("list_user_factors", users, "user_factors", model.num_users());
      !fault.empty())
    return fault;
  if (auto fault = fault_of_list("list_item_factors", items, "item_factors", model.num_items());
      !fault.empty())
    return fault;
  if (lists.model.num_factors() == 0 || lists.model.items.num_cols() != lists.model.num_factors())
    return fmt::format("list_item_factors has {}, but list_user_factors has {}",
                       counted(lists.model.items.num_cols(), "column"), lists.model.num_factors());
  if (auto fault =
          fault_of_list("list_item_biases", std::ssize(lists.model.item_biases), "list_item_factors", items);
      !fault.empty())
    return fault;
  using Numbers = std::span<const Real>;
  const std::pair<const char*, Numbers> numbers[] = {{"list_user_factors", lists.model.users.flat()},
                                                     {"list_item_factors", lists.model.items.flat()},
                                                     {"list_item_biases", Numbers(lists.model.item_biases)}};
  for (const auto& [name, values] : numbers)
    if (auto fault = fault_of_numbers(name, values); !fault.empty()) return fault;
  if (auto fault = fault_of_size("list_alpha", lists.alpha); !fault.empty()) return fault;
  if (auto fault = fault_of_size("list_neighbours", lists.model.neighbours); !fault.empty()) return fault;
  if (auto fault = fault_of_size("list_power", lists.power); !fault.empty()) return fault;
  if (auto fault = fault_of_size("list_regularisation", lists.shrinkage.per_rating); !fault.empty())
    return fault;
  if (auto fault = fault_of_size("list_item_regularisation", lists.shrinkage.for_items().per_rating);
      !fault.empty())
    return fault;
  return fault_of_size("list_shrinkage", lists.shrinkage.per_row);
}

template <class Real>
class ArchiveWriter {
 public:
  explicit ArchiveWriter(OutputFile& out) : archive_(out) {}

  void add(const std::string& name, double number) {
    archive_.add(name + ".npy", npy_header({}), bytes_of(std::span(&number, 1)));
  }
  void add(const std::string& name, const Matrix<Real>& x) {
    archive_.add(name + ".npy", npy_header(std::array{x.num_rows(), x.num_cols()}, sizeof(Real)),
                 bytes_of(x.flat()));
  }
  void add(const std::string& name, const Array<Real>& list) {
    if (list.empty()) return;
    archive_.add(name + ".npy", npy_header(std::array{Index(list.size())}, sizeof(Real)),
                 bytes_of(std::span(list)));
  }
  void add_record(const std::string& lines) {
    if (!lines.empty()) archive_.add(value_record_name, lines, "");
  }
  void finish() { archive_.finish(); }

 private:
  template <class Number>
  static std::string_view bytes_of(std::span<Number> numbers) {
    return {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()};
  }

  ZipWriter archive_;
};

// Of items, where it is another one than that of users.
double read_of_items(const Arrays& arrays, const std::string& name, double per_rating) {
  if (!arrays.has(name) || per_rating == 0) return 1;
  return arrays.number(name) / per_rating;
}

template <class Real>
void add_of_items(ArchiveWriter<Real>& archive, const std::string& name, const Shrinkage& shrinkage) {
  if (shrinkage.of_items != 1) archive.add(name, shrinkage.for_items().per_rating);
}

// Of a model for lists; earlier ones had none.
double read_neighbours(const Arrays& arrays, const std::string& name) {
  return arrays.has(name) ? arrays.number(name) : 0;
}

template <class Real>
void add_neighbours(ArchiveWriter<Real>& archive, const std::string& name, const RatingModel<Real>& model) {
  if (model.neighbours != 0) archive.add(name, model.neighbours);
}

template <class Real>
ListModel<Real> read_list_model(const Arrays& arrays) {
  ListModel<Real> lists;
  lists.model.users = arrays.matrix<Real>("list_user_factors");
  lists.model.items = arrays.matrix<Real>("list_item_factors");
  lists.model.item_biases = arrays.list<Real>("list_item_biases");
  lists.model.neighbours = read_neighbours(arrays, "list_neighbours");
  lists.alpha = arrays.number("list_alpha");
  lists.power = arrays.number("list_power");
  lists.model.confidence = {lists.alpha, lists.power};
  lists.shrinkage = {arrays.number("list_regularisation"), arrays.number("list_shrinkage")};
  lists.shrinkage.of_items = read_of_items(arrays, "list_item_regularisation", lists.shrinkage.per_rating);
  return lists;
}

template <class Real>
void add_list_model(ArchiveWriter<Real>& archive, const ListModel<Real>& lists) {
  archive.add("list_user_factors", lists.model.users);
  archive.add("list_item_factors", lists.model.items);
  archive.add("list_item_biases", lists.model.item_biases);
  archive.add("list_alpha", lists.alpha);
  archive.add("list_power", lists.power);
  archive.add("list_regularisation", lists.shrinkage.per_rating);
  archive.add("list_shrinkage", lists.shrinkage.per_row);
  add_of_items(archive, "list_item_regularisation", lists.shrinkage);
  add_neighbours(archive, "list_neighbours", lists.model);
}

std::int64_t read_epochs(const Arrays& arrays) {
  const double epochs = arrays.number("epochs");
  if (epochs < 0 || epochs > max_epochs || epochs != std::floor(epochs))
    arrays.fail(fmt::format("epochs is {}, expected a whole number from 0 on", epochs));
  return std::int64_t(epochs);
}

}  // namespace

template <class Real>
std::string fault_of(const RatingModel<Real>& model, const RatingTraining<Real>& training) {
  if (auto fault = fault_of_shapes(model, training); !fault.empty()) return fault;
  using Numbers = std::span<const Real>;
  const std::pair<const char*, Numbers> lists[] = {{"user_factors", model.users.flat()},
                                                   {"item_factors", model.items.flat()},
                                                   {"user_biases", Numbers(model.user_biases)},
                                                   {"item_biases", Numbers(model.item_biases)},
                                                   {"user_squares", Numbers(training.user_squares)},
                                                   {"item_squares", Numbers(training.item_squares)}};
  for (const auto& [name, numbers] : lists)
    if (auto fault = fault_of_numbers(name, numbers); !fault.empty()) return fault;
  for (const auto& [name, numbers] : std::span(lists).last(2))
    if (!numbers.empty() && std::ranges::min(numbers) < 0)
      return fmt::format("{} has {}, but sums of squares are not negative", name,
                         double(std::ranges::min(numbers)));
  if (!std::isfinite(model.mean)) return fmt::format("mean is '{}', not finite", model.mean);
  if (auto fault = fault_of_size("step", training.step); !fault.empty()) return fault;
  if (auto fault = fault_of_size("regularisation", training.shrinkage.per_rating); !fault.empty())
    return fault;
  if (training.range && !(training.range->least <= training.range->largest))
    return fmt::format("lowest is {}, beyond highest, {}", training.range->least, training.range->largest);
  if (auto fault = fault_of_size("neighbours", model.neighbours); !fault.empty()) return fault;
  if (auto fault = fault_of_size("alpha", training.alpha.value_or(0)); !fault.empty()) return fault;
  if (training.lists)
    if (auto fault = fault_of_list_model(model, *training.lists); !fault.empty()) return fault;
  if (auto fault = fault_of_size("item_regularisation", training.shrinkage.for_items().per_rating);
      !fault.empty())
    return fault;
  return fault_of_size("shrinkage", training.shrinkage.per_row);
}
template std::string fault_of(const RatingModel<float>&, const RatingTraining<float>&);
template std::string fault_of(const RatingModel<double>&, const RatingTraining<double>&);

bool is_single_precision(const InputFile& file) {
  return Arrays(file).width("user_factors") == sizeof(float);
}

template <class Real>
RatingArchive<Real> read_rating_archive(const InputFile& file) {
  const Arrays arrays(file);
  RatingArchive<Real> result;
  auto& [model, training] = result;
  model.mean = arrays.number("mean");
  model.users = arrays.matrix<Real>("user_factors");
  model.items = arrays.matrix<Real>("item_factors");
  model.user_biases = arrays.list<Real>("user_biases");
  model.item_biases = arrays.list<Real>("item_biases");
  model.neighbours = read_neighbours(arrays, "neighbours");
  training.epochs = read_epochs(arrays);
  training.step = arrays.number("step");
  training.shrinkage.per_rating = arrays.number("regularisation");
  // There was none before it had a name.
  training.shrinkage.per_row = arrays.has("shrinkage") ? arrays.number("shrinkage") : 0;
  training.shrinkage.of_items = read_of_items(arrays, "item_regularisation", training.shrinkage.per_rating);
  training.user_squares = arrays.list<Real>("user_squares");
  training.item_squares = arrays.list<Real>("item_squares");
  if (arrays.has("lowest") && arrays.has("highest"))
    training.range = {arrays.number("lowest"), arrays.number("highest")};
  if (arrays.has("alpha")) {
    training.alpha = arrays.number("alpha");
    model.confidence = {*training.alpha, 1};
  }
  take_archived_record(file, training.prepared);
  if (arrays.has("list_user_factors")) training.lists = read_list_model<Real>(arrays);
  if (const auto fault = fault_of(model, training); !fault.empty()) arrays.fail(fault);
  return result;
}
template RatingArchive<float> read_rating_archive(const InputFile&);
template RatingArchive<double> read_rating_archive(const InputFile&);

template <class Real>
void write_rating_archive(const std::filesystem::path& path, const RatingModel<Real>& model,
                          const RatingTraining<Real>& training) {
  OutputFile out(path);
  ArchiveWriter<Real> archive(out);
  archive.add("mean", model.mean);
  archive.add("user_factors", model.users);
  archive.add("item_factors", model.items);
  archive.add("user_biases", model.user_biases);
  archive.add("item_biases", model.item_biases);
  archive.add("epochs", double(training.epochs));
  archive.add("step", training.step);
  archive.add("regularisation", training.shrinkage.per_rating);
  archive.add("shrinkage", training.shrinkage.per_row);
  add_of_items(archive, "item_regularisation", training.shrinkage);
  add_neighbours(archive, "neighbours", model);
  archive.add("user_squares", training.user_squares);
  archive.add("item_squares", training.item_squares);
  if (training.range) {
    archive.add("lowest", training.range->least);
    archive.add("highest", training.range->largest);
  }
  if (training.alpha) archive.add("alpha", *training.alpha);
  archive.add_record(value_record(training.prepared, RatingTraining<Real>::usual_preparation()));
  if (training.lists) add_list_model(archive, *training.lists);
  archive.finish();
  out.commit();
}
template void write_rating_archive(const std::filesystem::path&, const RatingModel<float>&,
                                   const RatingTraining<float>&);
template void write_rating_archive(const std::filesystem::path&, const RatingModel<double>&,
                                   const RatingTraining<double>&);

}  // namespace polyad::io
