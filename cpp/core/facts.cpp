#include "core/facts.hpp"

#include <algorithm>
#include <limits>

namespace treethink {

void FactKind::swap(Int*, std::size_t) const {}

bool FactKind::solve(std::size_t, VectorView, VectorView, Int*) const { return false; }

namespace {

// Each pair of classes that share an attribute has a type of its own. No world needs as many.
constexpr std::size_t max_fact_types = 100'000;

/// `X[m] = v`
class Equality final : public FactKind {
public:
    [[nodiscard]] std::string_view name() const override { return "equality"; }
    [[nodiscard]] std::size_t arity() const override { return 1; }
    [[nodiscard]] bool value(VectorView x, VectorView, Int* out) const override {
        std::copy(x.begin(), x.end(), out);
        return true;
    }
    [[nodiscard]] bool solve(std::size_t, VectorView, VectorView value, Int* out) const override {
        std::copy(value.begin(), value.end(), out);
        return true;
    }
    [[nodiscard]] bool solvable() const override { return true; }
    [[nodiscard]] bool linear() const override { return true; }
    [[nodiscard]] bool absolute() const override { return true; }
    [[nodiscard]] std::string text(std::string const& x, std::string const&, std::string const& value) const override {
        return x + " = " + value;
    }
};

/// `Y[m] - X[m] = v`
class Difference final : public FactKind {
public:
    [[nodiscard]] std::string_view name() const override { return "difference"; }
    [[nodiscard]] std::size_t arity() const override { return 2; }
    [[nodiscard]] bool value(VectorView x, VectorView y, Int* out) const override {
        // The smallest Int has no negation, which swap() would need.
        for (std::size_t i = 0; i < x.size(); ++i)
            if (!subtract(y[i], x[i], out[i]) || out[i] == std::numeric_limits<Int>::min()) return false;
        return true;
    }
    void swap(Int* value, std::size_t length) const override {
        for (std::size_t i = 0; i < length; ++i) value[i] = -value[i];
    }
    [[nodiscard]] bool solve(std::size_t which, VectorView other, VectorView value, Int* out) const override {
        for (std::size_t i = 0; i < other.size(); ++i) {
            bool const fits = which == 1 ? add(other[i], value[i], out[i]) : subtract(other[i], value[i], out[i]);
            if (!fits) return false;
        }
        return true;
    }
    [[nodiscard]] bool solvable() const override { return true; }
    [[nodiscard]] bool linear() const override { return true; }
    [[nodiscard]] std::string text(std::string const& x, std::string const& y,
                                   std::string const& value) const override {
        return y + " - " + x + " = " + value;
    }
};

std::vector<std::unique_ptr<FactKind const>>& registry() {
    using Kinds = std::vector<std::unique_ptr<FactKind const>>;
    static Kinds& kinds = *[] {
        // Never destroyed: a daemon thread may still use facts while the process exits.
        auto* const built_in = new Kinds;
        built_in->push_back(std::make_unique<Equality>());
        built_in->push_back(std::make_unique<Difference>());
        return built_in;
    }();
    return kinds;
}

bool takes_part(Attribute const& attribute, FactKind const& kind) {
    return std::find(attribute.facts.begin(), attribute.facts.end(), kind.name()) != attribute.facts.end();
}

/// Adds the fact types of one kind and attribute, by classes.
void add_fact_types(Schema const& schema, FactKind const& kind, AttributeId m, std::vector<FactType>& types) {
    Attribute const& attribute = schema.attributes()[m];
    std::size_t const arity = kind.arity(), length = kind.value_length(attribute.length);
    bool const linear = kind.linear();
    for (std::size_t c = 0; c < schema.classes().size(); ++c) {
        auto const first = schema.find_slot(ClassId(c), m);
        if (!first) continue;
        if (arity == 1) {
            types.push_back({&kind, m, arity, {ClassId(c), {}}, {*first, {}}, length, linear});
            continue;
        }
        for (std::size_t d = c; d < schema.classes().size(); ++d)
            if (auto const second = schema.find_slot(ClassId(d), m))
                types.push_back({&kind, m, arity, {ClassId(c), ClassId(d)}, {*first, *second}, length, linear});
        if (types.size() > max_fact_types)
            throw SchemaError("too many classes share attribute '" + attribute.name + "': beyond " +
                              std::to_string(max_fact_types) + " types of fact");
    }
}

}  // namespace

std::vector<std::unique_ptr<FactKind const>> const& fact_kinds() { return registry(); }

FactKindRegistration::FactKindRegistration(std::unique_ptr<FactKind const> kind) {
    registry().push_back(std::move(kind));
}

std::vector<FactType> fact_types(Schema const& schema) {
    std::vector<FactType> types;
    for (auto const& kind : fact_kinds())
        for (std::size_t m = 0; m < schema.attributes().size(); ++m)
            if (takes_part(schema.attributes()[m], *kind)) add_fact_types(schema, *kind, AttributeId(m), types);
    return types;
}

std::size_t FactsInFull::VectorHash::operator()(Vector const& v) const {
    std::uint64_t hash = v.size();
    for (Int const each : v) {
        hash = (hash ^ static_cast<std::uint64_t>(each)) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return static_cast<std::size_t>(hash);
}

FactsInFull::FactsInFull(State const& state, std::vector<FactType> const& types)
    : state_(state), first_type_(types.data()), tables_(types.size()) {
    for (std::size_t t = 0; t < types.size(); ++t) extract(types[t], tables_[t]);
}

void FactsInFull::extract(FactType const& type, FactTable& table) const {
    Column const& xs = *state_.column(type.slots[0]);
    Vector value(type.value_length);
    for (Row x = 0; x < xs.rows(); ++x) {
        if (type.arity == 1) {
            if (type.kind->value(xs.row(x), {}, value.data())) table[value].push_back({x, any_row});
            continue;
        }
        Column const& ys = *state_.column(type.slots[1]);
        for (Row y = 0; y < ys.rows(); ++y)
            if ((!type.same_class() || x != y) && type.kind->value(xs.row(x), ys.row(y), value.data()))
                table[value].push_back({x, y});
    }
}

std::vector<Arguments> const& FactsInFull::arguments_of(FactType const& type, VectorView value) const {
    static std::vector<Arguments> const none;
    FactTable const& table = tables_[static_cast<std::size_t>(&type - first_type_)];
    auto const found = table.find(Vector(value.begin(), value.end()));
    return found == table.end() ? none : found->second;
}

}  // namespace treethink
