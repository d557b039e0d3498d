// search.cpp - the search as Python sees it.
//
// A model of the engine predicts without Python: the GIL is released during the whole search. Anything
// else is called through its `predict`, with the GIL held.
#include "search/search.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <atomic>
#include <thread>

#include "bindings/common.hpp"
#include "bindings/gil.hpp"
#include "bindings/py_model.hpp"
#include "bindings/signals.hpp"
#include "fork.hpp"

namespace treethink::bindings {

namespace {

/// Certain predictions made in Python: one of those takes as long as hundreds of steps of a search.
class PredictionCache {
public:
    [[nodiscard]] std::optional<PredictedTransition> find(State const& state, ActionId action) const {
        auto const [first, last] = entries_.equal_range(key(state, action));
        for (auto each = first; each != last; ++each)
            if (each->second.action == action && each->second.before == state)
                return PredictedTransition{each->second.after, each->second.feedback};
        return std::nullopt;
    }
    void add(State const& state, ActionId action, State const& after, StepFeedback feedback) {
        if (entries_.size() >= max_entries) entries_.clear();
        entries_.emplace(key(state, action), Entry{state, action, after, feedback});
    }
    void clear() { entries_.clear(); }

private:
    struct Entry {
        State before;
        ActionId action;
        State after;
        StepFeedback feedback;
    };
    static constexpr std::size_t max_entries = 10'000;
    static std::uint64_t key(State const& state, ActionId action) { return state.hash() + action; }

    std::unordered_multimap<std::uint64_t, Entry> entries_;
};

/// Whether a call uses a search. What another thread was doing to it when the process was forked stays half-way
/// in the child.
class UseMark final : ForkAware {
public:
    explicit operator bool() const { return in_use_; }
    void set() {
        if (half_way_)
            throw BrokenModelError(
                "the search is broken: the process was forked while another thread used it. Make "
                "a new one, or use the start method 'spawn'");
        if (in_use_.exchange(true))
            throw Error("this search is under way already: each thread, and each model that plans, needs its own");
        user_ = std::this_thread::get_id();
    }
    void clear() { in_use_ = false; }

private:
    // A thread that forks in its own search, in a model written in Python, goes on with it in the child.
    void release_in_child() noexcept override {
        half_way_ = half_way_ || (in_use_ && user_ != std::this_thread::get_id());
    }

    std::atomic<bool> in_use_ = false;
    std::thread::id user_;   // of the last use
    bool half_way_ = false;  // the mark is kept, too, so that nobody looks at the search
};

/// A search as Python holds it. Only one call may use it at a time (see ExclusiveUse).
struct PySearch {
    Search search;
    PredictionCache cache;
    bool cache_cleared = false;  // since the last reset
    UseMark in_use;

    PySearch(State const& state, SearchSettings settings, std::uint64_t seed) : search(state, settings, seed) {}

    void clear_cache() {
        cache.clear();
        cache_cleared = true;
    }
};

/// Marks a search as in use as long as this exists; refuses a second use at the same time.
class ExclusiveUse {
public:
    explicit ExclusiveUse(PySearch& self) : self_(self) { self_.in_use.set(); }
    ~ExclusiveUse() { self_.in_use.clear(); }
    ExclusiveUse(ExclusiveUse const&) = delete;
    ExclusiveUse& operator=(ExclusiveUse const&) = delete;

private:
    PySearch& self_;
};

// ------------------------------------------------------------ models in Python

// A prediction is certain from this probability on: it may be a rounded sum.
constexpr double certain = 1 - 1e-9;

class PythonDistribution final : public StateDistribution {
public:
    PythonDistribution(nb::object prediction, nb::object rng)
        : prediction_(std::move(prediction)), rng_(std::move(rng)) {}
    State sample(Random&) override {
        nb::object const sampled = nb::borrow(prediction_.attr("sample"))(rng_);
        return state_of(sampled, "sample(rng) of a prediction must give a State");
    }
    int traverse(visitproc visit, void* arg) const {
        Py_VISIT(prediction_.ptr());
        Py_VISIT(rng_.ptr());
        return 0;
    }
    [[nodiscard]] double probability(State const& state) const {
        nb::object const answer = prediction_.attr("probability")(state);
        double number = 0;
        if (!nb::try_cast(answer, number))
            throw WrongType("probability(state) of a prediction must give a number, got " + shown(answer));
        return number;
    }

private:
    nb::object prediction_, rng_;
};

class PythonTransitionModel final : public TransitionModel {
public:
    PythonTransitionModel(nb::object predict, nb::object rng, Schema const& schema, PredictionCache& cache)
        : predict_(std::move(predict)), rng_(std::move(rng)), schema_(schema), cache_(cache) {}

    PredictedTransition predict(State const& state, ActionId action) override {
        if (auto known = cache_.find(state, action)) return std::move(*known);
        nb::object const prediction = predict_(state, schema_.actions()[action]);
        if (!nb::hasattr(prediction, "sample") || !nb::hasattr(prediction, "probability"))
            throw WrongType("a prediction must have sample(rng) and probability(state), got " + shown(prediction));
        auto distribution = std::make_unique<PythonDistribution>(prediction, rng_);
        State const sampled = distribution->sample(unused_);
        StepFeedback const feedback{number_of(prediction, "reward"), 1 - number_of(prediction, "terminated")};
        if (distribution->probability(sampled) < certain) return {std::move(distribution), feedback};
        cache_.add(state, action, sampled, feedback);
        return {sampled, feedback};
    }

private:
    // What a prediction says of the reward or the end; 0 where it says nothing.
    static double number_of(nb::handle prediction, char const* method) {
        if (!nb::hasattr(prediction, method)) return 0;
        nb::object const answer = prediction.attr(method)();
        double number = 0;
        if (!answer.is_none() && !nb::try_cast(answer, number))
            throw WrongType(std::string(method) + "() of a prediction must give a number or None, got " +
                            shown(answer));
        return number;
    }

    nb::object predict_, rng_;
    Schema const& schema_;
    PredictionCache& cache_;
    Random unused_{0};  // Python's predictions sample with a Generator of their own
};

/// Another model, whose steps get their feedback from a function in Python: (reward, ended or None) of the state
/// before, the action and the state after. With None, it is the model that says whether a step ends the episode.
class WithPythonFeedback final : public TransitionModel {
public:
    WithPythonFeedback(TransitionModel& model, nb::handle function, Schema const& schema)
        : model_(model), function_(function), schema_(schema) {}

    PredictedTransition predict(State const& state, ActionId action) override { return model_.predict(state, action); }
    StepFeedback feedback(State const& before, ActionId action, State const& after, StepFeedback expected) override {
        AcquireGil const acquire;
        nb::object const answer = function_(before, schema_.actions()[action], after);
        auto const [reward, ended] = nb::cast<std::pair<double, std::optional<bool>>>(answer);
        return {reward, ended ? (*ended ? 0.0 : 1.0) : expected.continuation};
    }

private:
    TransitionModel& model_;
    nb::handle function_;
    Schema const& schema_;
};

// ------------------------------------------------------------ searching

struct Budget {
    std::uint64_t simulations;  // 0: no limit
    double milliseconds;        // 0: no limit
};

std::uint64_t simulate(Search& search, TransitionModel& model, Budget budget, std::uint64_t horizon) {
    using Milliseconds = std::chrono::duration<double, std::milli>;
    constexpr std::uint64_t simulations_between_checks = 16;
    auto const start = Clock::now();
    SignalWatch watch;
    for (std::uint64_t done = 0; budget.simulations == 0 || done < budget.simulations;) {
        search.simulate(model, horizon);
        if (++done % simulations_between_checks != 0 && budget.milliseconds == 0) continue;
        watch.look();
        if (budget.milliseconds > 0 && Milliseconds(Clock::now() - start).count() >= budget.milliseconds) return done;
    }
    return budget.simulations;
}

std::uint64_t run(PySearch& self, nb::handle model, nb::object rng, std::uint64_t simulations, double milliseconds,
                  std::uint64_t horizon, nb::object feedback) {
    ExclusiveUse const use(self);
    Budget const budget{simulations, milliseconds};
    auto const simulate_with = [&](TransitionModel& transitions) {
        WithPythonFeedback with_feedback(transitions, feedback, *self.search.schema());
        TransitionModel& all = feedback.is_none() ? transitions : with_feedback;
        return simulate(self.search, all, budget, horizon);
    };
    if (Model const* const native = model_in(model)) {
        LearnedTransitionModel learned(*native);
        nb::gil_scoped_release const release;
        return simulate_with(learned);
    }
    PythonTransitionModel in_python(nb::borrow(model), std::move(rng), *self.search.schema(), self.cache);
    try {
        return simulate_with(in_python);
    } catch (...) {
        self.clear_cache();  // the prediction that was cached last may be the invalid one
        throw;
    }
}

// ------------------------------------------------------------ garbage collection

// A prediction may refer back to the object that plans with it. A search that is in use is no garbage.
int traverse(PyObject* object, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(object));
    if (!nb::inst_ready(object)) return 0;
    auto const* const self = nb::inst_ptr<PySearch>(object);
    if (self->in_use) return 0;
    for (Search::Node const& node : self->search.nodes())
        for (Search::Edge const& edge : node.edges)
            if (edge.chance)
                if (auto const* const each = dynamic_cast<PythonDistribution const*>(edge.chance->distribution.get()))
                    if (int const stop = each->traverse(visit, arg)) return stop;
    return 0;
}

int clear(PyObject* object) {
    auto* const self = nb::inst_ptr<PySearch>(object);
    if (!self->in_use) (void)self->search.release_chance_nodes();
    return 0;
}

PyType_Slot const search_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(&traverse)}, {Py_tp_clear, reinterpret_cast<void*>(&clear)}, {0, nullptr}};

// ------------------------------------------------------------ results

nb::list actions(PySearch& self) {
    ExclusiveUse const use(self);
    nb::list all;
    auto const& edges = self.search.root().edges;
    for (std::size_t a = 0; a < self.search.schema()->actions().size(); ++a) {
        Search::Edge const* const edge = edges.empty() ? nullptr : &edges[a];
        bool const tried = edge != nullptr && edge->visits > 0;
        all.append(nb::make_tuple(tried ? edge->visits : 0, tried ? nb::cast(self.search.value(*edge)) : nb::none()));
    }
    return all;
}

nb::list variation(PySearch& self) {
    ExclusiveUse const use(self);
    nb::list all;
    for (Search::Step& step : self.search.principal_variation())
        all.append(nb::make_tuple(self.search.schema()->actions()[step.action], std::move(step.state)));
    return all;
}

nb::list tree(PySearch& self) {
    ExclusiveUse const use(self);
    nb::list all;
    for (Search::Node const& node : self.search.nodes()) {
        nb::list edges;
        for (Search::Edge const& edge : node.edges) {
            nb::list outcomes;
            for (auto const& each : edge.outcomes) {
                nb::object const reward =
                    self.search.plans_for_score() ? nb::cast(each.score_change) : nb::cast(each.reward);
                outcomes.append(nb::make_tuple(each.node, reward, each.visits));
            }
            double const value = edge.visits > 0 ? self.search.value(edge) : 0;
            edges.append(nb::make_tuple(edge.visits, value, outcomes));
        }
        all.append(nb::make_tuple(node.state, node.depth, node.visits, node.value, edges));
    }
    return all;
}

}  // namespace

void bind_search(nb::module_& module) {
    nb::class_<PySearch>(module, "Search", nb::type_slots(search_slots), "Monte-Carlo tree search. See treethink.plan.")
        .def(
            "__init__",
            [](PySearch* self, nb::handle state, double discount, double exploration, bool merge, bool by_value,
               std::uint64_t seed, bool for_score) {
                SearchSettings const settings{discount, exploration, merge,
                                              by_value ? FinalChoice::highest_value : FinalChoice::most_visits,
                                              for_score ? RewardSource::score : RewardSource::model};
                new (self) PySearch(state_of(state, "state must be a State"), settings, seed);
            },
            nb::arg("state").none(), nb::arg("discount"), nb::arg("exploration"), nb::arg("merge"), nb::arg("by_value"),
            nb::arg("seed"), nb::arg("for_score") = true)
        .def(
            "start",
            [](PySearch& self, nb::handle state) {
                ExclusiveUse const use(self);
                self.search.reset(state_of(state, "state must be a State"), self.cache_cleared);
                self.cache_cleared = false;
            },
            nb::sig("def start(self, state: State) -> None"), nb::arg("state").none())
        .def(
            "follow",
            [](PySearch& self, nb::handle action, nb::handle state) {
                ExclusiveUse const use(self);
                ActionId const taken = action_of(*self.search.schema(), action);
                return self.search.advance(taken, state_of(state, "state must be a State"));
            },
            nb::sig("def follow(self, action: str, state: State) -> bool"), nb::arg("action").none(),
            nb::arg("state").none())
        .def("forget",
             [](PySearch& self) {
                 ExclusiveUse const use(self);
                 self.clear_cache();
             })
        .def("run", &run, nb::arg("model"), nb::arg("rng").none(), nb::arg("simulations"), nb::arg("milliseconds"),
             nb::arg("horizon"), nb::arg("feedback").none() = nb::none())
        .def("best",
             [](PySearch& self) {
                 ExclusiveUse const use(self);
                 return self.search.schema()->actions()[self.search.best_action()];
             })
        .def("actions", &actions, nb::sig("def actions(self) -> list[tuple[int, float | None]]"))
        .def("variation", &variation, nb::sig("def variation(self) -> list[tuple[str, State]]"))
        .def(
            "size",
            [](PySearch& self) {
                ExclusiveUse const use(self);
                return std::pair(self.search.nodes().size(), self.search.predictions());
            },
            nb::sig("def size(self) -> tuple[int, int]"))
        .def("_tree", &tree);
}

}  // namespace treethink::bindings
