#include "polyad/io/models/rating_model_file.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <system_error>

#include "polyad/base/error.hpp"
#include "polyad/io/bytes/paths.hpp"
#include "polyad/io/bytes/staged_directory.hpp"
#include "polyad/io/models/kruskal.hpp"
#include "polyad/io/models/label_files.hpp"
#include "polyad/io/tensors/read_tensor.hpp"
#include "polyad/io/tensors/write_tensor.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::io {
namespace {

namespace fs = std::filesystem;

constexpr const char* ratings_name = "training.ptb";
constexpr const char* mode_names[] = {"user", "item"};

ModelFiles rating_files() {
  return {[](const fs::path& name) { return is_part_of_rating_model(name) || is_label_file(name); },
          is_rating_model, rating_model_key};
}

// An error of ratings and labels that are stored with a model; empty if they are consistent with it.
std::string fault_of_ratings(const SparseTensor<double>& ratings, Index num_users, Index num_items) {
  if (ratings.order() == 2 && ratings.extent(0) == num_users && ratings.extent(1) == num_items) return "";
  std::string dims;
  for (const Index extent : ratings.extents()) dims += fmt::format("{}{}", dims.empty() ? "" : "x", extent);
  return fmt::format("the ratings are {}, but the model has {} and {}", dims, counted(num_users, "user"),
                     counted(num_items, "item"));
}

std::string fault_of_labels(std::span<const ModeLabels> labels, Index num_users, Index num_items) {
  for (int m = 0; m < 2; ++m) {
    const Index count = std::ssize(labels[m].labels), expected = m == 0 ? num_users : num_items;
    if (count > 0 && count != expected)
      return fmt::format("mode {} has {}, but the model has {}", m + 1, counted(count, "label"),
                         counted(expected, mode_names[m]));
  }
  return "";
}

void check_directory(const fs::path& directory) {
  if (!is_present(directory)) InputFile{directory};  // which says why it cannot be opened
  if (!is_rating_model(directory))
    refuse_contents(directory, fmt::format("is no model of ratings: expected a directory with {} and {}",
                                           rating_model_key, ratings_name));
  if (!is_present(directory / rating_model_key))
    refuse_contents(directory,
                    fmt::format("{} is missing: it holds the model and is written last", rating_model_key));
}

}  // namespace

void name_rating_modes(std::vector<ModeLabels>& labels) {
  for (std::size_t m = 0; m < labels.size() && m < 2; ++m)
    if (labels[m].name.empty()) labels[m].name = mode_names[m];
}

bool is_rating_model(const fs::path& given) {
  const auto path = current_directory(given);
  return is_folder(path) && (is_present(path / rating_model_key) || is_present(path / ratings_name));
}

bool is_part_of_rating_model(const fs::path& name) {
  return name == rating_model_key || name == ratings_name;
}

void check_rating_model_place(const fs::path& directory) {
  StagedDirectory::check_place(directory, rating_files());
  if (!is_present(directory) || is_rating_model(directory)) return;
  const auto refuse = [](const fs::path& path, const std::string& why) {
    throw Error(Errc::bad_option, why, {path.string(), 0});
  };
  if (looks_like_kruskal(directory))
    refuse(directory, "holds a model of another kind; write this one to another folder");
  for (const auto& file : label_files_at(labels_of_model_folder(directory)))
    refuse(file, "holds other labels already; write the model to another folder");
}

bool is_single_rating_model(const fs::path& given) {
  const auto directory = current_directory(given);
  check_directory(directory);
  return is_single_precision(InputFile(directory / rating_model_key));
}

template <class Real>
RatingArchive<Real> read_rating_factors(const fs::path& given) {
  const auto directory = current_directory(given);
  check_directory(directory);
  return read_rating_archive<Real>(InputFile(directory / rating_model_key));
}

namespace {

template <class Real>
StoredRatingModel<Real> read_all(const fs::path& directory) {
  auto archive = read_rating_factors<Real>(directory);
  const auto& model = archive.model;
  if (!is_present(directory / ratings_name))
    refuse_contents(directory,
                    fmt::format("{} is missing: it holds the ratings of the training", ratings_name));
  ReadOptions read;
  read.format = TensorFormat::ptb;
  auto ratings = read_tensor(directory / ratings_name, read).tensor;
  if (const auto fault = fault_of_ratings(ratings, model.num_users(), model.num_items()); !fault.empty())
    refuse_contents(directory / ratings_name, fault);
  auto labels =
      find_labels(labels_of_model_folder(directory), std::array{model.num_users(), model.num_items()}).labels;
  if (const auto fault = fault_of_labels(labels, model.num_users(), model.num_items()); !fault.empty())
    refuse_contents(directory, fault);
  name_rating_modes(labels);
  return {std::move(archive.model), std::move(archive.training), std::move(ratings), std::move(labels)};
}

}  // namespace

template <class Real>
StoredRatingModel<Real> read_rating_model(const fs::path& given) {
  std::optional<StoredRatingModel<Real>> stored;
  read_unchanged(given, {rating_model_key},
                 [&](const fs::path& directory) { stored.emplace(read_all<Real>(directory)); });
  return std::move(*stored);
}

template <class Real>
void write_rating_model(const fs::path& directory, const RatingModel<Real>& model,
                        const RatingTraining<Real>& training, const SparseTensor<double>& ratings,
                        std::span<const ModeLabels> labels) {
  std::vector<ModeLabels> named(labels.begin(), labels.end());
  named.resize(2);
  name_rating_modes(named);
  auto fault = fault_of(model, training);
  if (fault.empty()) fault = fault_of_ratings(ratings, model.num_users(), model.num_items());
  if (fault.empty()) fault = fault_of_labels(named, model.num_users(), model.num_items());
  if (!fault.empty()) refuse_contents(directory, "cannot be written: " + fault);
  check_rating_model_place(directory);
  StagedDirectory staged(directory, rating_files());
  write_rating_archive(staged.path() / rating_model_key, model, training);
  write_tensor(staged.path() / ratings_name, ratings, std::vector<ModeLabels>(2));
  write_label_files(labels_of_model_folder(staged.path()), named);
  staged.commit();
}

template RatingArchive<float> read_rating_factors(const fs::path&);
template RatingArchive<double> read_rating_factors(const fs::path&);
template StoredRatingModel<float> read_rating_model(const fs::path&);
template StoredRatingModel<double> read_rating_model(const fs::path&);
template void write_rating_model(const fs::path&, const RatingModel<float>&, const RatingTraining<float>&,
                                 const SparseTensor<double>&, std::span<const ModeLabels>);
template void write_rating_model(const fs::path&, const RatingModel<double>&, const RatingTraining<double>&,
                                 const SparseTensor<double>&, std::span<const ModeLabels>);

}  // namespace polyad::io
