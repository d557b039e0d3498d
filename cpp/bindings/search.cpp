// search.cpp - the search as Python sees it.
//
// A model of the engine is asked without Python: the GIL is released all the while. Anything else is
// asked through its `predict`, with the GIL held.
#include "search/search.hpp"

#include <nanobind/stl/pair.h>

#include <atomic>

#include "common.hpp"
#include "model.hpp"
#include "signals.hpp"

namespace treethink::bindings {

namespace {

/// What was asked in Python and is certain: a prediction there takes as long as hundreds of steps of a search.
class Memory {
public:
    [[nodiscard]] State const* find(State const& state, ActionId action) const {
        auto const [first, last] = known_.equal_range(key(state, action));
        for (auto each = first; each != last; ++each)
            if (each->second.action == action && each->second.before == state) return &each->second.after;
        return nullptr;
    }
    void keep(State const& state, ActionId action, State const& after) {
        if (known_.size() >= most) known_.clear();
        known_.emplace(key(state, action), Known{state, action, after});
    }
    void clear() { known_.clear(); }

private:
    struct Known {
        State before;
        ActionId action;
        State after;
    };
    static constexpr std::size_t most = 10'000;
    static std::uint64_t key(State const& state, ActionId action) { return state.hash() + action; }

    std::unordered_multimap<std::uint64_t, Known> known_;
};

/// A search, of which only one call is under way at a time.
struct PySearch {
    Search search;
    Memory memory;
    bool forgot = false;  // since the last start
    std::atomic<bool> busy = false;

    void forget() {
        memory.clear();
        forgot = true;
    }

    PySearch(State const& state, SearchSettings settings, std::uint64_t seed) : search(state, settings, seed) {}
};

class Use {
public:
    explicit Use(PySearch& self) : self_(self) {
        if (self_.busy.exchange(true))
            throw Error("this search is under way already: each thread, and each model that plans, needs its own");
    }
    ~Use() { self_.busy = false; }
    Use(Use const&) = delete;
    Use& operator=(Use const&) = delete;

private:
    PySearch& self_;
};

// ------------------------------------------------------------ what is asked in Python

constexpr double certain = 1 - 1e-9;

class PythonChance final : public Chance {
public:
    PythonChance(nb::object prediction, nb::object rng) : prediction_(std::move(prediction)), rng_(std::move(rng)) {}
    State draw(Random&) override {
        nb::object const drawn = nb::borrow(prediction_.attr("sample"))(rng_);
        return state_of(drawn, "sample(rng) of a prediction must give a State");
    }
    int visit(visitproc visit, void* arg) const {
        Py_VISIT(prediction_.ptr());
        Py_VISIT(rng_.ptr());
        return 0;
    }
    [[nodiscard]] double probability(State const& state) const {
        nb::object const answer = prediction_.attr("probability")(state);
        double found = 0;
        if (!nb::try_cast(answer, found))
            throw WrongType("probability(state) of a prediction must give a number, got " + shown(answer));
        return found;
    }

private:
    nb::object prediction_, rng_;
};

class PythonForesight final : public Foresight {
public:
    PythonForesight(nb::object predict, nb::object rng, Schema const& schema, Memory& memory)
        : predict_(std::move(predict)), rng_(std::move(rng)), schema_(schema), memory_(memory) {}

    Foreseen foresee(State const& state, ActionId action) override {
        if (State const* const known = memory_.find(state, action)) return *known;
        nb::object const prediction = predict_(state, schema_.actions()[action]);
        if (!nb::hasattr(prediction, "sample") || !nb::hasattr(prediction, "probability"))
            throw WrongType("a prediction must have sample(rng) and probability(state), got " + shown(prediction));
        auto chance = std::make_unique<PythonChance>(prediction, rng_);
        State const drawn = chance->draw(nobody_);
        if (chance->probability(drawn) < certain) return chance;
        memory_.keep(state, action, drawn);
        return drawn;
    }

private:
    nb::object predict_, rng_;
    Schema const& schema_;
    Memory& memory_;
    Random nobody_{0};  // Python's predictions draw from a Generator of their own
};

// ------------------------------------------------------------ searching

struct Budget {
    std::uint64_t simulations;  // 0: no limit
    double milliseconds;        // 0: no limit
};

std::uint64_t simulate(Search& search, Foresight& foresight, Budget budget, std::uint64_t horizon) {
    using Milliseconds = std::chrono::duration<double, std::milli>;
    constexpr std::uint64_t between_looks = 16;
    auto const start = Clock::now();
    SignalWatch watch;
    for (std::uint64_t done = 0; budget.simulations == 0 || done < budget.simulations;) {
        search.simulate(foresight, horizon);
        if (++done % between_looks != 0 && budget.milliseconds == 0) continue;
        watch.look();
        if (budget.milliseconds > 0 && Milliseconds(Clock::now() - start).count() >= budget.milliseconds) return done;
    }
    return budget.simulations;
}

std::uint64_t run(PySearch& self, nb::handle model, nb::object rng, std::uint64_t simulations, double milliseconds,
                  std::uint64_t horizon) {
    Use const use(self);
    Budget const budget{simulations, milliseconds};
    if (Model const* const native = model_in(model)) {
        ModelForesight foresight(*native);
        nb::gil_scoped_release const release;
        return simulate(self.search, foresight, budget, horizon);
    }
    PythonForesight foresight(nb::borrow(model), std::move(rng), *self.search.schema(), self.memory);
    try {
        return simulate(self.search, foresight, budget, horizon);
    } catch (...) {
        self.forget();  // the last answer may have been none
        throw;
    }
}

// ------------------------------------------------------------ garbage

// A prediction may lead back to who plans with it. A search that is under way has an owner: it is no garbage.
int traverse(PyObject* object, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(object));
    if (!nb::inst_ready(object)) return 0;
    auto const* const self = nb::inst_ptr<PySearch>(object);
    if (self->busy) return 0;
    for (Search::Node const& node : self->search.nodes())
        for (Search::Edge const& edge : node.edges)
            if (edge.drawn)
                if (auto const* const chance = dynamic_cast<PythonChance const*>(edge.drawn->chance.get()))
                    if (int const stop = chance->visit(visit, arg)) return stop;
    return 0;
}

int clear(PyObject* object) {
    auto* const self = nb::inst_ptr<PySearch>(object);
    if (!self->busy) (void)self->search.give_up();
    return 0;
}

PyType_Slot const search_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(&traverse)}, {Py_tp_clear, reinterpret_cast<void*>(&clear)}, {0, nullptr}};

// ------------------------------------------------------------ what came of it

nb::list actions(PySearch& self) {
    Use const use(self);
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
    Use const use(self);
    nb::list all;
    for (Search::Step& step : self.search.variation())
        all.append(nb::make_tuple(self.search.schema()->actions()[step.action], std::move(step.state)));
    return all;
}

nb::list tree(PySearch& self) {
    Use const use(self);
    nb::list all;
    for (Search::Node const& node : self.search.nodes()) {
        nb::list edges;
        for (Search::Edge const& edge : node.edges) {
            nb::list outcomes;
            for (auto const& each : edge.outcomes) outcomes.append(nb::make_tuple(each.node, each.reward, each.count));
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
               std::uint64_t seed) {
                SearchSettings const settings{discount, exploration, merge, by_value ? Choice::value : Choice::visits};
                new (self) PySearch(state_of(state, "state must be a State"), settings, seed);
            },
            nb::arg("state").none(), nb::arg("discount"), nb::arg("exploration"), nb::arg("merge"), nb::arg("by_value"),
            nb::arg("seed"))
        .def(
            "start",
            [](PySearch& self, nb::handle state) {
                Use const use(self);
                self.search.start(state_of(state, "state must be a State"), self.forgot);
                self.forgot = false;
            },
            nb::sig("def start(self, state: State) -> None"), nb::arg("state").none())
        .def(
            "follow",
            [](PySearch& self, nb::handle action, nb::handle state) {
                Use const use(self);
                ActionId const taken = action_of(*self.search.schema(), action);
                return self.search.follow(taken, state_of(state, "state must be a State"));
            },
            nb::sig("def follow(self, action: str, state: State) -> bool"), nb::arg("action").none(),
            nb::arg("state").none())
        .def("forget",
             [](PySearch& self) {
                 Use const use(self);
                 self.forget();
             })
        .def("run", &run, nb::arg("model"), nb::arg("rng").none(), nb::arg("simulations"), nb::arg("milliseconds"),
             nb::arg("horizon"))
        .def("best",
             [](PySearch& self) {
                 Use const use(self);
                 return self.search.schema()->actions()[self.search.best()];
             })
        .def("actions", &actions, nb::sig("def actions(self) -> list[tuple[int, float | None]]"))
        .def("variation", &variation, nb::sig("def variation(self) -> list[tuple[str, State]]"))
        .def(
            "size",
            [](PySearch& self) {
                Use const use(self);
                return std::pair(self.search.nodes().size(), self.search.predictions());
            },
            nb::sig("def size(self) -> tuple[int, int]"))
        .def("_tree", &tree);
}

}  // namespace treethink::bindings
