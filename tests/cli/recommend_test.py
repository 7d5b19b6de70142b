"""What `polyad recommend` promises, and `polyad predict` with a model of ratings."""

import gzip
import unittest

from program import WITH_MPI, ProgramTest, run
from rating_model import RatingModel, npy

# The keys are an interface; docs/json.md says what they mean.
KEYS = {"request", "users", "items", "factors", "ratings", "rated_items", "candidates", "similar_users", "top", "with_rated", "answered", "count", "lists",
        "recommendations", "similar_items", "precision", "out", "threads", "seconds", "peak_memory_bytes"}


def user_names(model: RatingModel) -> list[str]:
    return [f"ann {i}" for i in range(model.users)]


def item_names(model: RatingModel) -> list[str]:
    return [f"film, {i}" for i in range(model.items)]


class RecommendTest(ProgramTest):
    def setUp(self) -> None:
        super().setUp()
        self.model = RatingModel(6, 23, 4)
        self.place = self.folder / "model"

    def assert_items(self, found: list[dict], expected: list[tuple[int, float]], key: str = "rating", names: list[str] = [],
                     places: int = 10) -> None:
        self.assertEqual([one["item"] for one in found], [names[item] if names else item + 1 for item, _ in expected])
        for one, (_, score) in zip(found, expected):
            self.assertAlmostEqual(one[key], score, places=places)

    def recommended(self, *options: object) -> dict:
        return self.result("recommend", self.place, *options)


class UsersTest(RecommendTest):
    def test_the_best_items_that_were_not_rated(self) -> None:
        for width, biases in ((8, True), (8, False), (4, True)):
            model = RatingModel(6, 23, 4, seed=width, width=width, biases=biases)
            model.write(self.place)
            result = self.recommended("--user", 2, "--user", 5, "--top", 4)
            self.assertEqual(set(result), KEYS)
            self.assertEqual(set(result["seconds"]), {"load", "recommend"})
            for one, user in zip(result["recommendations"], (1, 4), strict=True):
                self.assertEqual((one["user"], one["rated"]), (user + 1, len(model.rated_by(user))))
                self.assert_items(one["items"], model.top(user, 4), places=10 if width == 8 else 5)
            self.assertEqual({key: result[key] for key in ("request", "users", "items", "factors", "ratings", "rated_items",
                                                           "top", "with_rated", "answered", "count", "precision")},
                             {"request": "users", "users": 6, "items": 23, "factors": 4, "ratings": len(model.ratings),
                              "rated_items": 22, "top": 4, "with_rated": False, "answered": 2, "count": 8,
                              "precision": "double" if width == 8 else "single"})

    def test_all_items_but_those_rated_and_those_without_ratings(self) -> None:
        self.model.write(self.place)
        items = self.recommended("--user", 1, "--top", 1000)["recommendations"][0]["items"]
        self.assertEqual({one["item"] - 1 for one in items},
                         set(range(23)) - self.model.rated_by(0) - {self.model.unrated})
        items = self.recommended("--user", 1, "--top", 1000, "--with-rated")["recommendations"][0]["items"]
        self.assert_items(items, self.model.top(0, 1000, with_rated=True))
        self.assertEqual(len(items), 22)

    def test_labels(self) -> None:
        self.model.write(self.place, user_names(self.model), item_names(self.model))
        result = self.recommended("--user", "ann 3", "--top", 3)
        self.assertEqual(result["recommendations"][0]["user"], "ann 3")
        self.assert_items(result["recommendations"][0]["items"], self.model.top(3, 3), names=item_names(self.model))

    def test_words(self) -> None:
        self.model.write(self.place, user_names(self.model), item_names(self.model))
        best = self.model.top(3, 2)
        lines = self.succeed("recommend", self.place, "--user", "ann 3", "--top", 2).splitlines()
        self.assertEqual(lines[:2], ["6 users, 23 items, 4 factors; 1 item was excluded for lack of ratings",
                                     f"for user ann 3, with {len(self.model.rated_by(3))} ratings:"])
        for place, (line, (item, rating)) in enumerate(zip(lines[2:], best, strict=True), start=1):
            self.assertEqual(line.split(maxsplit=2)[::2], [str(place), f"film, {item}"])
            self.assertAlmostEqual(float(line.split()[1]), rating, places=2)
        self.assertEqual(self.succeed("recommend", self.place, "--user", "ann 3", "-q"), "")

    def test_nothing_is_left(self) -> None:
        self.model.ratings |= {(0, item): 1.0 for item in range(22)}
        self.model.write(self.place)
        self.assertIn("\n       nothing\n", self.succeed("recommend", self.place, "--user", 1))
        self.assertEqual(self.recommended("--user", 1)["recommendations"][0]["items"], [])

    def test_a_user_without_ratings_gets_what_everyone_likes(self) -> None:
        self.model.ratings = {key: rating for key, rating in self.model.ratings.items() if key[0] != 2}
        self.model.write(self.place)
        result = run("recommend", self.place, "--user", 3)
        self.assertEqual(result.returncode, 0)
        self.assertIn(f"warning: {self.place}: 3 has no ratings in the training, and gets what everyone likes", result.stderr)


class AllUsersTest(RecommendTest):
    def test_the_table_has_every_user(self) -> None:
        self.model.write(self.place)
        for name in ("all.tsv", "all.csv", "all.tsv.gz"):
            out = self.folder / name
            result = self.recommended("--all", "--top", 3, "--out", out, "-q")
            text = gzip.decompress(out.read_bytes()).decode() if name.endswith("gz") else out.read_text()
            head, *rows = [line.split("," if "csv" in name else "\t") for line in text.splitlines()]
            self.assertEqual(head, ["user", "item", "prediction"])
            expected = [(user, item, rating) for user in range(6) for item, rating in self.model.top(user, 3)]
            self.assertEqual([(int(a) - 1, int(b) - 1) for a, b, _ in rows], [(a, b) for a, b, _ in expected])
            for row, (_, _, rating) in zip(rows, expected):
                self.assertAlmostEqual(float(row[2]), rating, places=10)
            self.assertEqual((result["request"], result["answered"], result["count"], result["recommendations"], result["out"]),
                             ("all users", 6, len(rows), [], str(out)))

    def test_the_table_is_the_same_for_any_threads_and_for_some_users(self) -> None:
        model = RatingModel(300, 90, 7, width=4)
        model.write(self.place, user_names(model), item_names(model))
        one, three, some = (self.folder / f"{name}.tsv" for name in ("one", "three", "some"))
        self.succeed("recommend", self.place, "--all", "--out", one, "-t", 1, "-q")
        self.succeed("recommend", self.place, "--all", "--out", three, "-t", 3, "-q")
        self.assertEqual(one.read_bytes(), three.read_bytes())
        self.succeed("recommend", self.place, "--user", "ann 7", "--user", "ann 299", "--out", some, "-q")
        lines = one.read_text().splitlines()
        self.assertEqual(some.read_text().splitlines(),
                         [lines[0], *(line for line in lines if line.split("\t")[0] in ("ann 7", "ann 299"))])
        self.assertEqual(lines[0], "who\tfilm\tprediction")

    def test_users_without_ratings_are_left_out(self) -> None:
        self.model.ratings = {key: rating for key, rating in self.model.ratings.items() if key[0] != 2}
        self.model.write(self.place)
        out = self.folder / "all.tsv"
        words = self.succeed("recommend", self.place, "--all", "--out", out, "--top", 2)
        self.assertEqual({line.split("\t")[0] for line in out.read_text().splitlines()[1:]}, {"1", "2", "4", "5", "6"})
        self.assertIn("10 items recommended to 5 users", words)


class NewUserTest(RecommendTest):
    def test_a_new_user_is_found_from_ratings(self) -> None:
        for width, biases in ((8, True), (8, False), (4, True)):
            model = RatingModel(6, 23, 4, seed=3, width=width, biases=biases)
            model.write(self.place)
            ratings = {0: 5.0, 7: 1.0, 3: 0.0, 11: 4.5, 12: 2.0}
            path = self.write("mine.txt", "".join(f"{item + 1} {rating}\n" for item, rating in ratings.items()))
            row, bias = model.fold_in(ratings)
            known = set(range(22))
            for options, candidates in (((), known - set(ratings)), (("--with-rated",), known)):
                result = self.recommended("--ratings", path, "--top", 5, *options)
                one, = result["recommendations"]
                self.assertEqual((one["user"], one["rated"], result["request"]), (None, 5, "new user"))
                expected = model.best({item: model.score(row, bias, item) for item in candidates}, 5)
                self.assert_items(one["items"], expected, places=8 if width == 8 else 4)

    def test_files_of_many_looks(self) -> None:
        self.model.write(self.place, [], item_names(self.model))
        texts = ["film, 3\t5\nfilm, 7\t1\n", "film, 7::1\nfilm, 3::5\n", 'film,stars\n"film, 3",5\n"film, 7",1\n',
                 "film, 3\t5\r\n\r\nfilm, 7\t1.0"]
        answers = [self.recommended("--ratings", self.write(f"mine{i}", text))["recommendations"]
                   for i, text in enumerate(texts)]
        self.assertEqual(answers, answers[:1] * len(texts))
        packed = self.folder / "mine.gz"
        packed.write_bytes(gzip.compress(texts[0].encode()))
        self.assertEqual(self.recommended("--ratings", packed)["recommendations"], answers[0])

    def test_labels_with_blanks_and_the_table(self) -> None:
        names = [f"The Film {i}" for i in range(23)]
        self.model.write(self.place, [], names)
        out = self.folder / "new.csv"
        words = self.succeed("recommend", self.place, "--ratings", self.write("mine", "The Film 3 5\n"), "--top", 2, "--out", out)
        self.assertIn("for the new user, with 1 rating:", words)
        head, *rows = out.read_text().splitlines()
        self.assertEqual((head, len(rows)), ("film,prediction", 2))
        self.assertIn(rows[0].split(",")[0], names)

    def test_bad_files_are_refused(self) -> None:
        self.model.write(self.place, [], item_names(self.model))
        refused = {"film, 3\t5\nfilm, 99\t1\n": ":2: 'film, 99' is no item of the model (did you mean film, 9?)",
                   "film, 3\t5\nfilm, 3\t1\n": ":2: 'film, 3' is rated on line 1 too",
                   "film, 3\t5\nfilm, 4\tfine\n": ":2: rating 'fine' is not a number",
                   "film, 3\tnan\n": ":1: rating 'nan' is not finite",
                   "film, 3\t5\t6\n": ":1: expected an item and a rating, found 3 fields",
                   "item\trating\n": ": holds no ratings", "": ": holds no ratings",
                   "film\n": ":1: expected an item and a rating, found 1 field",
                   'a,1\n"film, 3,2\n': ":2: a quote is not closed, or is followed by more than a separator"}
        for text, sentence in refused.items():
            if sentence.startswith(":2: a quote"):
                text = text.replace("a,1", "film,stars")
            path = self.write("mine", text)
            self.assert_fails(f"{path}{sentence}", 2, "recommend", self.place, "--ratings", path)

    def test_indices_without_labels(self) -> None:
        self.model.write(self.place)
        path = self.write("mine", "24 5\n")
        self.assert_fails(f"{path}:1: '24' is no item of the model: expected a number from 1 to 23", 2, "recommend",
                          self.place, "--ratings", path)


class ChosenItemsTest(RecommendTest):
    def test_candidates_and_exclusions(self) -> None:
        self.model.write(self.place, [], item_names(self.model))
        stock = self.write("stock", "film, 3\nfilm, 4\nfilm, 22\nfilm, 9\nfilm, 99\n")
        bad = self.write("bad", "film, 4\n")
        process = run("recommend", self.place, "--user", 1, "--candidates", stock, "--exclude", bad, "--with-rated", "--json", "-", "-q")
        self.assertIn(f"warning: {stock}: 1 item was left out that the model does not have", process.stderr)
        result = self.recommended("--user", 1, "--candidates", stock, "--exclude", bad, "--with-rated")
        self.assertEqual(result["candidates"], 2)
        expected = [one for one in self.model.top(0, 100, with_rated=True) if one[0] in (3, 9)]
        self.assert_items(result["recommendations"][0]["items"], expected, names=item_names(self.model))
        self.assert_fails("--candidates and --exclude leave no item that has ratings in the training", 2, "recommend", self.place,
                          "--user", 1, "--candidates", bad, "--exclude", bad)
        self.assert_fails("--support is for --similar-items and --similar-users", 2, "recommend", self.place, "--user", 1, "--support", 1)


class NewUsersTest(RecommendTest):
    def test_the_lists_are_those_of_one_user_after_the_other(self) -> None:
        self.model.write(self.place, [], item_names(self.model))
        ratings = {"zoe": {0: 5.0, 7: 1.0}, "ann 1": {3: 0.0}, "b": {11: 4.5, 12: 2.0, 0: 1.0}}
        lines = [f'{user},"film, {item}",{rating}\n' for user, rated in ratings.items() for item, rating in rated.items()]
        path = self.write("new.csv", "who,film,stars\n" + "".join(lines))
        result = self.recommended("--new-users", path, "--top", 4)
        self.assertEqual((result["request"], result["answered"], result["count"]), ("new users", 3, 12))
        table = self.folder / "new.tsv"
        self.succeed("recommend", self.place, "--new-users", path, "--top", 4, "--out", table, "-q")
        head, *rows = [line.split("\t") for line in table.read_text().splitlines()]
        self.assertEqual(head, ["user", "film", "prediction"])
        for one, (user, rated) in zip(result["recommendations"], ratings.items(), strict=True):
            self.assertEqual((one["user"], one["rated"]), (user, len(rated)))
            row, bias = self.model.fold_in(rated)
            scores = {item: self.model.score(row, bias, item) for item in set(range(22)) - set(rated)}
            self.assert_items(one["items"], self.model.best(scores, 4), places=8, names=item_names(self.model))
            self.assertEqual([item for name, item, _ in rows if name == user], [item["item"] for item in one["items"]])


class NewItemsTest(RecommendTest):
    def exchanged(self) -> RatingModel:
        """The model with users and items exchanged: its fold_in finds the row of an item."""
        other = RatingModel(self.model.items, self.model.users, 4)
        other.w, other.h, other.b, other.c, other.mean = self.model.h, self.model.w, self.model.c, self.model.b, self.model.mean
        other.ratings = {(item, user): rating for (user, item), rating in self.model.ratings.items()}
        return other

    def add(self, ratings: dict[str, dict[int, float]]) -> None:
        """To the model here, behind its items."""
        other = self.exchanged()
        for item, rated in enumerate(ratings.values(), self.model.items):
            row, bias = other.fold_in(rated)
            self.model.h, self.model.c = [*self.model.h, row], [*self.model.c, bias]
            self.model.ratings |= {(user, item): rating for user, rating in rated.items()}
        self.model.items += len(ratings)

    def test_they_are_served_like_others(self) -> None:
        names = item_names(self.model)
        self.model.write(self.place, user_names(self.model), names)
        new = {"x, 1": {0: 5.0, 3: 1.0}, "y": {2: 0.0, 4: 4.5, 5: 3.0}}
        lines = [f'ann {user},"{item}",{rating},7\n' for item, rated in new.items() for user, rating in rated.items()]
        path = self.write("new.csv", "who,film,stars,time\n" + "".join(lines))
        self.add(new)
        names += list(new)
        result = self.recommended("--new-items", path, "--user", "ann 1", "--user", "ann 4", "--top", 30)
        self.assertEqual(set(result), KEYS | {"new_item_ratings"})
        self.assertEqual((result["new_item_ratings"], result["items"], result["ratings"]), (5, 25, len(self.model.ratings)))
        for one, user in zip(result["recommendations"], (1, 4)):
            self.assert_items(one["items"], self.model.top(user, 30), names=names, places=8)
        result = self.recommended("--new-items", path, "--similar-items", "y", "--top", 30)
        self.assert_items(result["similar_items"][0]["similar"], self.model.similar(24, 30), "similarity", names, places=8)
        only = self.write("only", "y\n")
        result = self.recommended("--new-items", path, "--user", "ann 1", "--candidates", only)
        self.assertEqual([one["item"] for one in result["recommendations"][0]["items"]], ["y"])
        self.succeed("predict", self.place, self.write("z.csv", 'who,film\nann 1,y\nann 2,"x, 1"\n'), "--new-items", path,
                     "--out", self.folder / "t.tsv", "-q")
        rows = [line.split("\t") for line in (self.folder / "t.tsv").read_text().splitlines()[1:]]
        for row, (user, item) in zip(rows, ((1, 24), (2, 23)), strict=True):
            self.assertAlmostEqual(float(row[2]), self.model.predict(user, item), places=8)

    def test_an_item_without_ratings_gets_a_row(self) -> None:
        self.model.write(self.place)
        path = self.write("new.tsv", "2\t23\t4\n2\t26\t1\n")
        result = self.recommended("--new-items", path, "--user", 1, "--top", 100)
        self.assertEqual((result["items"], result["rated_items"]), (26, 24))
        found = {one["item"] for one in result["recommendations"][0]["items"]}
        self.assertLess({23, 26}, found)
        self.assertFalse({24, 25} & found)

    def test_bad_files_are_refused(self) -> None:
        self.model.write(self.place)
        for text, sentence in (("1 24 5\n7 24 1\n", "2: '7' is no user of the model: expected a number from 1 to 6"),
                               ("1 24 5\n1 3 1\n", "2: item 3 is not new: the model was trained on ratings of it"),
                               ("1 24 5\n1 24 1\n", "2: '1' rates the item on line 1 too"),
                               ("1 24 5\n2 024 1\n", "2: item 024 is written in another way on line 1"),
                               ("1 x 5\n", "1: 'x' is no item: expected a number from 1"),
                               ("1 9000000 5\n", "1: item 9000000 is far beyond the 23 items of the model, which have no names: expected "
                                "numbers up to 1000024"),
                               ("1 24 many\n", " holds no ratings"), ("1 24\n", "1: expected a user, an item and a rating, found 2 fields")):
            path = self.write("bad", text)
            sentence = f"{path}:{sentence}"
            self.assert_fails(sentence, 2, "recommend", self.place, "--user", 1, "--new-items", path)
            self.assert_fails(sentence, 2, "predict", self.place, path, "--new-items", path)
        x = self.write("x.tns", "1 1 1\n2 2 2\n")
        self.succeed("cpd", x, "-r", 1, "--out", self.folder / "cp", "-q")
        requires = "--new-items requires a model of ratings, which complete writes; "
        self.assert_fails(requires + "this is a CP model", 2, "recommend", self.folder / "cp", "--user", 1, "--new-items", x)
        self.assert_fails(requires + f"{self.folder / 'cp'} is another model", 2, "predict", self.folder / "cp", x, "--new-items", x)
        self.assert_fails("--new-items goes by the labels of the model: --labels has no effect", 2, "predict", self.place, x,
                          "--new-items", x, "--labels", "none")


class SimilarItemsTest(RecommendTest):
    def test_cosines(self) -> None:
        self.model.write(self.place)
        result = self.recommended("--similar-items", 4, "--similar-items", 1, "--top", 6)
        self.assertEqual((result["request"], result["answered"], result["count"]), ("similar items", 2, 12))
        for one, item in zip(result["similar_items"], (3, 0), strict=True):
            self.assertEqual(one["item"], item + 1)
            self.assert_items(one["similar"], self.model.similar(item, 6), key="similarity")
            for other in one["similar"]:
                self.assertEqual(other["ratings"], sum(rated == other["item"] - 1 for _, rated in self.model.ratings))
                self.assertAlmostEqual(other["cosine"] * other["ratings"] / (other["ratings"] + 5), other["similarity"])
        alone = self.recommended("--similar-items", 4, "--top", 6, "--support", 0)["similar_items"][0]["similar"]
        self.assert_items(alone, self.model.similar(3, 6, support=0), key="cosine")

    def test_words_and_labels(self) -> None:
        self.model.write(self.place, [], item_names(self.model))
        words = self.succeed("recommend", self.place, "--similar-items", "film, 4", "--top", 1)
        self.assertIn("\nlike item film, 4:\n    1", words)
        self.assertRegex(words, rf"film, {self.model.similar(4, 1)[0][0]} \(\d+ ratings?\)\n$")

    def test_an_item_without_ratings_is_warned_of(self) -> None:
        self.model.write(self.place)
        result = run("recommend", self.place, "--similar-items", 23)
        self.assertEqual(result.returncode, 0)
        self.assertIn(f"warning: {self.place}: 23 has no ratings in the training: what is like it says nothing", result.stderr)

    def test_a_row_of_zeros_is_like_nothing(self) -> None:
        self.model.h[5] = [0.0] * 4
        self.model.write(self.place)
        self.assertEqual(self.recommended("--similar-items", 6)["similar_items"], [{"item": 6, "similar": []}])


class PredictTest(RecommendTest):
    def test_predictions_and_what_they_are_made_of(self) -> None:
        for biases in (True, False):
            model = RatingModel(6, 23, 4, biases=biases)
            model.write(self.place)
            x = self.write("x.tns", "".join(f"{user + 1} {item + 1} {r}\n" for (user, item), r in model.ratings.items()))
            table = self.succeed("predict", self.place, x, "--contributions")
            head, *rows = [line.split("\t") for line in table.splitlines()]
            names = ["user", "item", "prediction", "value", "residual", *(f"component{r + 1}" for r in range(6 if biases else 4))]
            self.assertEqual(head, names)
            for row, (user, item) in zip(rows, model.ratings, strict=True):
                prediction, value, _, *parts = map(float, row[2:])
                self.assertEqual(value, model.ratings[user, item])
                self.assertAlmostEqual(prediction, model.predict(user, item), places=12)
                for f in range(4):
                    self.assertAlmostEqual(parts[f], model.w[user][f] * model.h[item][f], places=12)
                if biases:
                    self.assertAlmostEqual(parts[4], model.b[user], places=12)
                    self.assertAlmostEqual(parts[5], model.mean + model.c[item], places=12)
            self.assertEqual(self.result("predict", self.place, x, "-q")["components"], 6 if biases else 4)

    def test_predictions_are_clipped_to_the_scale(self) -> None:
        model = RatingModel(6, 23, 4, clips=True)
        model.write(self.place)
        x = self.write("x.tns", "".join(f"{user + 1} {item + 1}\n" for user in range(6) for item in range(23)))
        least, largest = min(model.ratings.values()), max(model.ratings.values())
        for options, clip in (((), True), (("--no-clip",), False)):
            rows = [line.split("\t") for line in self.succeed("predict", self.place, x, *options).splitlines()[1:]]
            for user, item, prediction in rows:
                expected = model.predict(int(user) - 1, int(item) - 1)
                self.assertAlmostEqual(float(prediction), max(least, min(largest, expected)) if clip else expected, places=12)
        result = self.result("predict", self.place, x, "-q")
        beyond = sum(not least <= model.predict(user, item) <= largest for user in range(6) for item in range(23))
        self.assertGreater(beyond, 0)
        self.assertEqual((result["clipped"], result["clipped_to"]), (beyond, [least, largest]))
        self.assertEqual(self.result("predict", self.place, x, "-q", "--no-clip")["clipped_to"], [])

    def test_unknown_users_and_items_are_predicted_by_the_other_side(self) -> None:
        self.model.write(self.place, user_names(self.model), item_names(self.model))
        x = self.write("x.csv", 'who,film,value\nann 2,new film,3\nnobody,"film, 4",2\nnobody,new film,1\nnobody,"film, 4",5\nann 1,"film, 2",4\n')
        table = self.succeed("predict", self.place, x, "--contributions", "--duplicates", "last")
        rows = [line.split("\t") for line in table.splitlines()[1:]]
        self.assertEqual([row[:2] for row in rows], [["ann 2", "new film"], ["nobody", "film, 4"], ["nobody", "new film"], ["ann 1", "film, 2"]])
        mean, b, c = self.model.mean, self.model.b, self.model.c
        for row, user_bias, item_part in zip(rows, (b[2], 0, 0), (mean, mean + c[4], mean)):
            prediction, _, _, *parts = map(float, row[2:])
            self.assertAlmostEqual(prediction, user_bias + item_part, places=12)
            self.assertEqual(parts[:4], [0] * 4)
            self.assertAlmostEqual(parts[4], user_bias, places=12)
            self.assertAlmostEqual(parts[5], item_part, places=12)
        self.assertAlmostEqual(float(rows[3][2]), self.model.predict(1, 2), places=12)
        self.assertEqual(float(rows[1][3]), 5)
        process = run("predict", self.place, x, "--json", "-", "-q")
        self.assertIn(f"warning: {x}: 3 ratings of users or items that the model does not have, predicted by the mean and the bias", process.stderr)
        skipped = self.result("predict", self.place, x, "-q", "--skip-unknown")
        self.assertEqual((skipped["count"], skipped["unknown"], skipped["estimated"]), (1, 4, 0))

    def test_numbers_beyond_the_model(self) -> None:
        self.model.write(self.place)
        x = self.write("x.tns", "7 1\n1000000000000 2\n3 24\n9 30\n6 23\n")
        rows = [line.split("\t") for line in self.succeed("predict", self.place, x).splitlines()[1:]]
        mean, b, c = self.model.mean, self.model.b, self.model.c
        for row, expected in zip(rows, (mean + c[0], mean + c[1], mean + b[2], mean, self.model.predict(5, 22)), strict=True):
            self.assertAlmostEqual(float(row[2]), expected, places=12)
        self.assertEqual([row[0] for row in rows], ["7", "1000000000000", "3", "9", "6"])

    def test_without_biases_nothing_is_known_of_others(self) -> None:
        RatingModel(6, 23, 4, biases=False).write(self.place)
        process = run("predict", self.place, self.write("x.tns", "7 1\n"))
        self.assertEqual(process.returncode, 2)
        self.assertIn("is beyond the dimension 6 that the model states", process.stderr)

    def test_labels_and_what_recommend_wrote(self) -> None:
        self.model.write(self.place, user_names(self.model), item_names(self.model))
        out = self.folder / "all.csv"
        self.succeed("recommend", self.place, "--all", "--out", out, "-q")
        result = self.result("predict", self.place, out, "-q")
        self.assertGreater(result["count"], 6)
        self.assertAlmostEqual(result["rmse"], 0, places=12)

    def test_without_labels_columns_are_called_user_and_item(self) -> None:
        self.model.write(self.place)
        x = self.write("x.csv", "item,user\n3,2\n")
        self.assertEqual(self.succeed("predict", self.place, x).split("\n")[1].split("\t")[:2], ["2", "3"])

    def test_no_output_overwrites_a_part_of_the_model(self) -> None:
        self.model.write(self.place)
        x = self.write("x.tns", "1 1\n")
        for name in ("model.npz", "training.ptb", "mode-1-user.map"):
            self.assert_fails(f"--json {self.place / name} would overwrite a part of the model", 2, "predict", self.place, x,
                              "--json", self.place / name)


class TrainedTest(RecommendTest):
    """With a model that was trained."""

    def setUp(self) -> None:
        super().setUp()
        self.ratings = self.folder / "ratings.tns"
        self.succeed("generate", "ratings", self.ratings, "--users", 200, "--items", 80, "--nnz", 6000, "-q")
        self.succeed("complete", self.ratings, "-r", 4, "--epochs", 40, "--out", self.place, "-q")

    def lines_of(self, user: int) -> list[list[str]]:
        return [line.split() for line in self.ratings.read_text().splitlines() if line.split()[0] == str(user)]

    def test_a_known_user_folded_in_is_much_the_same(self) -> None:
        for user in (1, 50, 200):
            rated = self.lines_of(user)
            mine = self.write("mine", "".join(f"{item} {rating}\n" for _, item, rating in rated))
            trained, = self.recommended("--user", user, "--top", 1000)["recommendations"]
            folded, = self.recommended("--ratings", mine, "--top", 1000)["recommendations"]
            self.assertEqual(trained["rated"], len(rated))
            ratings = {one["item"]: one["rating"] for one in trained["items"]}
            self.assertFalse(ratings.keys() & {int(item) for _, item, _ in rated})
            differences = [abs(one["rating"] - ratings.pop(one["item"])) for one in folded["items"]]
            self.assertEqual(ratings, {})
            self.assertLess(sum(differences) / len(differences), 0.3)

    def test_ratings_of_new_users_beyond_the_range_are_warned_of(self) -> None:
        values = [float(line.split()[2]) for line in self.ratings.read_text().splitlines() if line[0] != "#"]
        least, largest = min(values), max(values)
        said = f"is outside the range of the ratings, {least:g} to {largest:g}"
        for ratings, expected in (((least, largest), None), ((400, least), f"2: 400 {said}"), ((least, -1), f"3: -1 {said}"),
                                  ((400, -1), f"2: 400 {said}; so is 1 more"), ((400, 500, -1), f"2: 400 {said}; so are 2 more")):
            for option, begin in (("--ratings", ""), ("--new-users", "ann,")):
                mine = self.write("mine", "".join(f"{begin}{item},{rating}\n" for item, rating in enumerate(ratings, start=2)))
                result = run("recommend", self.place, option, mine, "-q")
                self.assertEqual((result.returncode, result.stderr), (0, f"polyad: warning: {mine}: {expected}\n" if expected else ""))

    def test_predict_says_what_recommend_says(self) -> None:
        out = self.folder / "all.csv"
        self.succeed("recommend", self.place, "--all", "--lists", "ratings", "--out", out, "-q")
        self.assertLess(self.result("predict", self.place, out, "-q", "--no-clip")["rmse"], 1e-6)
        self.assertLess(self.result("predict", self.place, self.ratings, "-q")["rmse"], 1)


class RefusalTest(RecommendTest):
    def refuse(self, sentence: str, *options: object) -> None:
        self.assert_fails(sentence.replace("MODEL", str(self.place)), 2, "recommend", self.place, *options)

    def test_unknown_users_and_items(self) -> None:
        self.model.write(self.place)
        self.refuse("'7' is no user of the model: expected a number from 1 to 6", "--user", 7)
        self.refuse("'0' is no user of the model: expected a number from 1 to 6", "--user", 0)
        self.refuse("'ann' is no user of the model: expected a number from 1 to 6", "--user", "ann")
        self.refuse("'24' is no item of the model: expected a number from 1 to 23", "--similar-items", 24)
        self.model.write(self.place, ["ann", "bob", "ann", "cy", "dee", "eve"])
        self.refuse("'1' is no user of the model, which knows each user by a name, such as 'ann'", "--user", 1)
        self.refuse("'ann' names more than one user of the model", "--user", "ann")

    def test_options_that_do_not_fit(self) -> None:
        self.model.write(self.place)
        which = "expected exactly one of --user, --all, --ratings, --new-users, --similar-items and --similar-users"
        self.refuse(which)
        self.refuse(which, "--user", 1, "--all", "--out", "x.tsv")
        self.refuse("--all requires --out FILE, for the table", "--all")
        self.refuse("--out is for predicted ratings, not for --similar-items", "--similar-items", 1, "--out", "x.tsv")
        self.refuse("--with-rated does not apply to --similar-items", "--similar-items", 1, "--with-rated")
        self.refuse("--out x.txt: expected a name that ends in .tsv or .csv, or in .tsv.gz or .csv.gz", "--user", 1, "--out", "x.txt")
        mine = self.write("mine.tsv", "1\t5\n")
        self.refuse(f"--out {mine} would overwrite the ratings", "--ratings", mine, "--out", mine)
        self.refuse(f"--json {self.place / 'training.ptb'} would overwrite a part of the model", "--user", 1, "--json",
                    self.place / "training.ptb")

    def test_models_that_are_none(self) -> None:
        missing = "cannot be opened for reading: No such file or directory"
        self.refuse(f"MODEL: {missing}", "--user", 1)
        (self.folder / "modle").mkdir()
        self.refuse(f"MODEL: {missing} (did you mean {self.folder / 'modle'}?)", "--user", 1)
        x = self.write("x.tns", "1 1 1\n2 2 2\n")
        self.assert_fails(f"{self.folder / 'x.tsn'}: {missing}", 2, "complete", self.folder / "x.tsn", "-q")
        self.assert_fails(f"{self.folder / 'x'}: {missing} (did you mean {x}?)", 2, "complete", self.folder / "x", "-q")
        for options in (["predict", self.place, x], ["compare", self.place, x],
                        ["complete", x, "--lists", "ratings", "--resume", self.place]):
            self.assert_fails(f"{self.place}: {missing} (did you mean {self.folder / 'modle'}?)", 2, *options, "-q")
        self.place.mkdir()
        self.refuse("MODEL: is no Kruskal tensor that Polyad knows: a text that begins with 'ktensor', an .npz archive, or a directory "
                    "with lambda.mat and mode1.mat", "--user", 1)
        self.model.write(self.place, item_factors=b"")
        self.refuse("MODEL/model.npz: item_factors is missing: a model of ratings has it", "--user", 1)
        self.model.write(self.place, item_factors=npy((23, 5), [0.0] * 115))
        self.refuse("MODEL/model.npz: item_factors has 5 columns, but user_factors has 4", "--user", 1)
        self.model.write(self.place, user_biases=npy((5,), [0.0] * 5))
        self.refuse("MODEL/model.npz: user_biases has 5 numbers, but user_factors has 6 rows", "--user", 1)
        self.model.write(self.place, item_biases=npy((23,), [float("nan")] * 23))
        self.refuse("MODEL/model.npz: item_biases has the value 'nan' at [0, 0], which is not finite", "--user", 1)
        self.model.write(self.place, ["too", "few"])
        self.refuse("MODEL: mode 1 has 2 labels, but the model has 6 users", "--user", 1)

    def test_predictions_beyond_what_numbers_hold(self) -> None:
        self.model.write(self.place, user_factors=npy((6, 4), [1e200] * 24), item_factors=npy((23, 4), [1e200] * 92))
        self.refuse("a predicted rating is beyond what double precision holds", "--user", 1)

    def test_a_failed_run_leaves_no_file(self) -> None:
        self.model.write(self.place, user_factors=npy((6, 4), [1e200] * 24), item_factors=npy((23, 4), [1e200] * 92))
        self.refuse("a predicted rating is beyond what double precision holds", "--all", "--out", self.folder / "all.tsv")
        self.assertEqual([path.name for path in self.folder.glob("all*")], [])

    def test_it_runs_on_one_process(self) -> None:
        if WITH_MPI:
            self.model.write(self.place)
            result = run("recommend", self.place, "--user", 1, processes=2)
            self.assertEqual(result.returncode, 2)
            self.assertIn("polyad: polyad recommend runs on one process; 2 were started", result.stderr)


if __name__ == "__main__":
    unittest.main()
