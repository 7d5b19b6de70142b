#include "polyad/io/models/rating_model_file.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "polyad/base/error.hpp"
#include "polyad/io/arrays/npy_head.hpp"
#include "polyad/io/bytes/zip_writer.hpp"
#include "polyad/io/models/label_files.hpp"
#include "polyad/io/tensors/write_tensor.hpp"
#include "tests/support/kruskal_samples.hpp"
#include "tests/support/random_ratings.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad::io {
namespace {

namespace fs = std::filesystem;
using test::Biases;
using test::contents;
using test::Entries;
using test::TemporaryFolder;

template <class Real>
struct Sample {
  explicit Sample(const test::RatingShape& shape, Biases biases = Biases::with, std::uint64_t seed = 1)
      : model(test::random_rating_model<Real>(shape, biases, Entries::normal, seed)),
        training{12, 0.02, {0.1, 2}, {}, {}},
        ratings(test::random_ratings(shape, seed)),
        labels(2) {}

  void add_squares() {
    training.user_squares.assign(std::size_t(model.num_users()), Real(0.25));
    training.item_squares.assign(std::size_t(model.num_items()), Real(3));
  }
  void add_labels() {
    labels = {{"viewer", {}}, {"", {}}};
    for (Index i = 0; i < model.num_users(); ++i) labels[0].labels.push_back("u" + std::to_string(i));
    for (Index i = 0; i < model.num_items(); ++i) labels[1].labels.push_back("the " + std::to_string(i));
  }
  void write(const fs::path& directory) const {
    write_rating_model<Real>(directory, model, training, ratings, labels);
  }

  RatingModel<Real> model;
  RatingTraining<Real> training;
  SparseTensor<double> ratings;
  std::vector<ModeLabels> labels;
};

template <class Fn>
std::string fault(const TemporaryFolder& folder, Fn fn) {
  try {
    fn();
  } catch (const Error& e) {
    const std::string root = (folder / "").string(), what = e.what();
    EXPECT_NE(e.code(), Errc::internal);
    return what.starts_with(root) ? what.substr(root.size()) : what;
  }
  return "no fault";
}
std::string read_fault(const TemporaryFolder& folder) {
  return fault(folder, [&] { read_rating_model<double>(folder / "model"); });
}

template <class Real>
void expect_round_trips() {
  for (const auto& shape : test::rating_shapes())
    for (const auto biases : {Biases::with, Biases::without})
      for (const bool all : {false, true}) {
        const TemporaryFolder folder;
        Sample<Real> sample(shape, biases);
        sample.ratings.append(std::vector<Index>{0, 0}, 0.0);  // rated, with nothing
        if (all) sample.add_squares();
        if (all) sample.add_labels();

        sample.write(folder / "model");
        const auto read = read_rating_model<Real>(folder / "model");

        EXPECT_EQ(read.model, sample.model);
        EXPECT_EQ(read.training, sample.training);
        EXPECT_EQ(read.ratings, sample.ratings);
        EXPECT_EQ(read.labels[0].labels, sample.labels[0].labels);
        EXPECT_EQ(read.labels[1].labels, sample.labels[1].labels);
        EXPECT_EQ(read.labels[0].name, all ? "viewer" : "user");
        EXPECT_EQ(read.labels[1].name, "item");
        EXPECT_TRUE(is_rating_model(folder / "model"));
      }
}

TEST(RatingModelFile, what_was_written_is_read_in_double) {
  expect_round_trips<double>();
}

TEST(RatingModelFile, what_was_written_is_read_in_single) {
  expect_round_trips<float>();
}

TEST(RatingModelFile, either_precision_reads_the_other) {
  const TemporaryFolder folder;
  const Sample<float> single({6, 9, 3, 20});
  const Sample<double> twice({6, 9, 3, 20});
  single.write(folder / "single");
  twice.write(folder / "double");

  const auto widened = read_rating_factors<double>(folder / "single").model;
  const auto narrowed = read_rating_factors<float>(folder / "double").model;

  for (Index i = 0; i < 6; ++i)
    for (Index r = 0; r < 3; ++r) {
      EXPECT_EQ(widened.users(i, r), double(single.model.users(i, r)));
      EXPECT_EQ(narrowed.users(i, r), float(twice.model.users(i, r)));
    }
  EXPECT_TRUE(is_single_rating_model(folder / "single"));
  EXPECT_FALSE(is_single_rating_model(folder / "double"));
  EXPECT_LT(fs::file_size(folder / "single/model.npz"), fs::file_size(folder / "double/model.npz"));
}

TEST(RatingModelFile, a_new_model_replaces_all_of_the_old) {
  const TemporaryFolder folder;
  Sample<double> old({6, 9, 3, 20}), next({4, 2, 5, 3}, Biases::without);
  old.add_squares();
  old.add_labels();
  old.write(folder / "model");
  folder.write("model/notes.txt", "mine");

  next.write(folder / "model");

  const auto read = read_rating_model<double>(folder / "model");
  EXPECT_EQ(read.model, next.model);
  EXPECT_EQ(read.training, next.training);
  EXPECT_TRUE(read.labels[0].empty() && read.labels[1].empty());
  EXPECT_EQ(test::names_in(folder / "model"),
            (std::vector<std::string>{"model.npz", "notes.txt", "training.ptb"}));
}

TEST(RatingModelFile, the_same_model_gives_the_same_bytes) {
  const TemporaryFolder folder;
  const Sample<float> sample({6, 9, 3, 20});
  sample.write(folder / "a");
  sample.write(folder / "b");
  for (const auto* name : {"model.npz", "training.ptb"})
    EXPECT_EQ(contents(folder / "a" / name), contents(folder / "b" / name));
}

TEST(RatingModelFile, what_could_not_be_read_is_not_written_and_the_old_model_stays) {
  const TemporaryFolder folder;
  const Sample<double> good({6, 9, 3, 20});
  good.write(folder / "model");
  const auto refusal = [&](auto spoil) {
    Sample<double> bad = good;
    spoil(bad);
    return fault(folder, [&] { bad.write(folder / "model"); });
  };

  EXPECT_EQ(refusal([](auto& s) { s.model.users(1, 2) = std::nan(""); }),
            "model: cannot be written: number 6 of user_factors is 'nan', not finite");
  EXPECT_EQ(refusal([](auto& s) { s.model.item_biases.pop_back(); }),
            "model: cannot be written: item_biases has 8 numbers, but item_factors has "
            "9 rows");
  EXPECT_EQ(refusal([](auto& s) {
              s.ratings = test::random_ratings({6, 8, 1, 4}, 1);
            }),
            "model: cannot be written: the ratings are 6x8, but the model has 6 users and 9 items");
  EXPECT_EQ(refusal([](auto& s) {
              s.labels[1].labels = {"a", "b"};
            }),
            "model: cannot be written: mode 2 has 2 labels, but the model has 9 items");
  EXPECT_EQ(refusal([](auto& s) { s.training.shrinkage.per_rating = -1; }),
            "model: cannot be written: regularisation is -1, expected a number from 0 "
            "on");
  EXPECT_EQ(read_rating_model<double>(folder / "model").model, good.model);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "model"), {}), 2);
}

TEST(RatingModelFile, no_other_model_and_no_others_labels_are_mixed_with_it) {
  const TemporaryFolder folder;
  const Sample<double> sample({6, 9, 3, 20});
  write_kruskal(folder / "kruskal", test::sample({3, 4}, 2), KruskalFormat::splatt);
  fs::create_directory(folder / "labelled");
  folder.write("labelled/mode-1-who.map", "ann\n");
  folder.write("file", "");

  EXPECT_EQ(fault(folder, [&] { sample.write(folder / "kruskal"); }),
            "kruskal: holds a model of another kind; write this one to another folder");
  EXPECT_EQ(fault(folder, [&] { sample.write(folder / "labelled"); }),
            "labelled/mode-1-who.map: holds other labels already; write the model to another folder");
  EXPECT_NE(fault(folder, [&] { sample.write(folder / "file"); }), "no fault");
  EXPECT_FALSE(is_rating_model(folder / "kruskal"));
  EXPECT_FALSE(is_rating_model(folder / "file"));
}

TEST(RatingModelFile, missing_and_disagreeing_files_are_named) {
  const TemporaryFolder folder;
  Sample<double> sample({6, 9, 3, 20});
  EXPECT_EQ(read_fault(folder), "model: cannot be opened for reading: No such file or directory");
  fs::create_directory(folder / "model");
  EXPECT_EQ(read_fault(folder),
            "model: is no model of ratings: expected a directory with model.npz and training.ptb");
  fs::remove(folder / "model");
  sample.add_labels();
  sample.write(folder / "model");
  fs::rename(folder / "model/model.npz", folder / "model.npz");
  EXPECT_EQ(read_fault(folder), "model: model.npz is missing: it holds the model and is written last");
  fs::rename(folder / "model.npz", folder / "model/model.npz");
  folder.write("model/mode-1-viewer.map", "one\n");
  EXPECT_EQ(read_fault(folder), "model: mode 1 has 1 label, but the model has 6 users");
  write_tensor(folder / "model/training.ptb", test::random_ratings({6, 10, 1, 4}, 1),
               std::vector<ModeLabels>(2));
  EXPECT_EQ(read_fault(folder),
            "model/training.ptb: the ratings are 6x10, but the model has 6 users and 9 items");
  folder.write("model/training.ptb", "nothing");
  EXPECT_NE(read_fault(folder), "no fault");
  fs::remove(folder / "model/training.ptb");
  EXPECT_EQ(read_fault(folder), "model: training.ptb is missing: it holds the ratings of the training");
}

// An archive of these arrays, filled with a number.
struct ModelArray {
  std::string name;
  std::vector<Index> shape;
  double value = 1;
};
std::string model_fault(std::vector<ModelArray> arrays, const std::vector<ModelArray>& others = {}) {
  const TemporaryFolder folder;
  for (const auto& other : others) {
    std::erase_if(arrays, [&](const auto& array) { return array.name == other.name; });
    arrays.push_back(other);
  }
  {
    OutputFile out(folder / "model.npz");
    ZipWriter archive(out);
    for (const auto& [name, shape, value] : arrays) {
      Index count = 1;
      for (const Index extent : shape) count *= extent;
      const std::vector<double> values(std::size_t(count), value);
      archive.add(name + ".npy", npy_header(shape),
                  {reinterpret_cast<const char*>(values.data()), 8 * values.size()});
    }
    archive.finish();
    out.commit();
  }
  return fault(folder, [&] { read_rating_archive<double>(InputFile(folder / "model.npz")); });
}

TEST(RatingModelFile, faults_of_the_arrays_are_named) {
  const std::vector<ModelArray> sound{
      {"mean", {}}, {"user_factors", {4, 2}}, {"item_factors", {3, 2}}, {"epochs", {1}},
      {"step", {}}, {"regularisation", {}},   {"user_biases", {4}},     {"item_biases", {3}}};
  const auto with = [&](const ModelArray& other) { return model_fault(sound, {other}); };

  EXPECT_EQ(model_fault(sound), "no fault");
  EXPECT_EQ(with({"something", {2}}), "no fault");
  EXPECT_EQ(model_fault({{"mean", {}}}), "model.npz: user_factors is missing: a model of ratings has it");
  EXPECT_EQ(model_fault({}), "model.npz: mean is missing: a model of ratings has it");
  EXPECT_EQ(with({"item_factors", {3, 5}}), "model.npz: item_factors has 5 columns, but user_factors has 2");
  EXPECT_EQ(with({"user_biases", {5}}), "model.npz: user_biases has 5 numbers, but user_factors has 4 rows");
  EXPECT_EQ(with({"user_squares", {4}}), "model.npz: item_squares is missing, but user_squares is there");
  EXPECT_EQ(model_fault(sound, {{"user_squares", {4}}, {"item_squares", {3}, -1}}),
            "model.npz: item_squares has -1, but sums of squares are not negative");
  EXPECT_EQ(with({"item_factors", {3, 2}, std::nan("")}),
            "model.npz: item_factors has the value 'nan' at [0, 0], which is not finite");
  EXPECT_EQ(with({"mean", {2}}), "model.npz: mean is no single number");
  EXPECT_EQ(with({"mean", {}, INFINITY}),
            "model.npz: mean has the value 'inf' at [0, 0], which is not finite");
  EXPECT_EQ(with({"epochs", {}, 1.5}), "model.npz: epochs is 1.5, expected a whole number from 0 on");
  EXPECT_EQ(with({"step", {}, -1}), "model.npz: step is -1, expected a number from 0 on");
}

}  // namespace
}  // namespace polyad::io
