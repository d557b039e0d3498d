// serialize.cpp - QORA to bytes and back.
#include <algorithm>
#include <limits>
#include <string>

#include "qora/qora.hpp"

namespace treethink {

using qora::CaseTable;
using qora::Condition;
using qora::Group;
using qora::Predicate;
using qora::PredicateId;
using qora::Predicates;
using qora::WideKey;

namespace {

// Larger numbers are no counts: doubles would round them.
constexpr std::uint64_t max_count = std::uint64_t{1} << 53;

auto group_in(Predicates const& predicates) {
    return [&predicates](PredicateId p) { return predicates[p].group; };
}

/// How many predicates each group has, from the last to the first, as in a wide key.
std::vector<std::size_t> group_sizes(Condition condition, Predicates const& predicates) {
    std::vector<std::size_t> sizes;
    each_group(condition, group_in(predicates),
               [&](std::size_t first, std::size_t end) { sizes.push_back(end - first); });
    std::reverse(sizes.begin(), sizes.end());
    return sizes;
}

// In memory, a wide key marks where vectors begin (1) and groups end (0). In a file, each group starts with its number
// of vectors instead.
void save_wide_key(Writer& out, WideKey const& key, std::vector<std::size_t> const& groups) {
    std::size_t at = 0;
    for (std::size_t const predicates : groups) {
        std::size_t const words = qora::words_for(predicates);
        std::size_t vectors = 0;
        while (key[at + vectors * (1 + words)] == 1) ++vectors;
        out.number(vectors);
        for (; vectors > 0; --vectors, at += 1 + words)
            for (std::size_t w = 1; w <= words; ++w) out.number(key[at + w]);
        ++at;
    }
}

WideKey load_wide_key(Reader& in, std::vector<std::size_t> const& groups) {
    WideKey key;
    for (std::size_t const predicates : groups) {
        std::size_t const words = qora::words_for(predicates);
        WideKey last;
        for (std::size_t vectors = in.count("a number of truth vectors"); vectors > 0; --vectors) {
            WideKey vector;
            for (std::size_t w = 0; w < words; ++w) vector.push_back(in.number());
            bool const fits = predicates % 64 == 0 || vector[0] >> (predicates % 64) == 0;
            if (!fits || (!last.empty() && !(vector < last)))
                throw ModelFileError("the model file has a case with impossible truth vectors");
            key.push_back(1);
            key.insert(key.end(), vector.begin(), vector.end());
            last = std::move(vector);
        }
        key.push_back(0);
    }
    return key;
}

}  // namespace

// ---- predictors ----

namespace qora {

void Predictor::save(Writer& out, Predicates const& predicates) const {
    out.number(effects_.size());
    for (Vector const& effect : effects_) out.vector(effect);
    auto const save_counts = [&](std::span<std::uint64_t const> counts) {
        for (std::size_t y = 0; y < effects_.size(); ++y) out.number(y < counts.size() ? counts[y] : 0);
    };
    save_counts(baseline_.cases() > 0 ? baseline_.counts(0) : std::span<std::uint64_t const>{});
    out.number(conditions_.size());
    for (std::uint32_t at = 0; at < conditions_.size(); ++at) {
        out.number(conditions_[at].length);
        for (PredicateId const p : condition(at)) out.number(p);
        CaseTable const& table = conditions_[at].table;
        auto const groups = table.wide() ? group_sizes(condition(at), predicates) : std::vector<std::size_t>{};
        out.number(table.cases());
        for (std::size_t c = 0; c < table.cases(); ++c) {
            if (table.wide())
                save_wide_key(out, table.wide_key(c), groups);
            else
                out.number(table.key(c));
            save_counts(table.counts(c));
        }
    }
    out.number(hypotheses_.size());
    for (std::uint32_t const at : hypotheses_) out.number(at);
    for (std::uint32_t const at : candidates_) out.number(at);
}

void Predictor::load(Reader& in, LoadContext const& context) {
    std::size_t const effects = in.count("a number of effects");
    for (std::size_t y = 0; y < effects; ++y)
        if (effect_index(in.vector(context.effect_length), context.memory) != y)
            throw ModelFileError("the model file has an effect twice");
    for (std::size_t y = 0; y < effects; ++y) {
        std::uint64_t const n = in.number(max_count - baseline_.total(), "a count");
        if (n > 0) baseline_.add(std::uint64_t{0}, y, n);
    }
    load_conditions(in, context);
    load_lists(in, context);
    if (effects == 0 || (hypotheses_.empty() && baseline_.total() == 0))
        throw ModelFileError("the model file has a predictor that has seen nothing");
}

void Predictor::load_conditions(Reader& in, LoadContext const& context) {
    Predicates const& predicates = context.predicates;
    for (std::size_t left = in.count("a number of conditions"); left > 0; --left) {
        union_.clear();
        for (std::size_t n = in.count("a number of predicates"); n > 0; --n) {
            if (predicates.size() == 0) throw ModelFileError("the model file has a condition without predicates");
            union_.emplace_back(static_cast<std::size_t>(in.number(predicates.size() - 1, "a predicate")));
            Predicate const& last = predicates[union_.back()];
            bool const of_target = last.group == target_alone || last.relative;
            if (of_target && !context.schema.find_slot(context.target_class, last.attribute))
                throw ModelFileError("the model file has a condition on an attribute that its target does not have");
            if (union_.size() > 1 && !predicates.less(union_[union_.size() - 2], union_.back()))
                throw ModelFileError("the model file has a condition with predicates out of order");
        }
        if (union_.empty() || has(union_)) throw ModelFileError("the model file has an empty condition, or one twice");
        add(union_, predicates, context.memory);
        load_table(in, context, static_cast<std::uint32_t>(conditions_.size() - 1));
    }
}

void Predictor::load_table(Reader& in, LoadContext const& context, std::uint32_t at) {
    CaseTable& table = conditions_[at].table;
    std::size_t const bits = answer_bits(condition(at), context.predicates);
    auto const groups = group_sizes(condition(at), context.predicates);
    auto const load_counts = [&](auto const& key) {
        if (table.lower_bound(key) != table.cases() || table.has(table.cases(), key))
            throw ModelFileError("the model file has cases out of order");
        std::size_t const before = table.cases();
        for (std::size_t y = 0; y < effects_.size(); ++y)
            if (auto const n = in.number(max_count - table.total(), "a count"); n > 0) table.add(key, y, n);
        if (table.cases() == before) throw ModelFileError("the model file has a case that never occurred");
    };
    for (std::size_t left = in.count("a number of cases"); left > 0; --left) {
        if (table.wide())
            load_counts(load_wide_key(in, groups));
        else
            load_counts(in.number(std::numeric_limits<std::uint64_t>::max() >> (64 - bits), "a case"));
    }
    context.memory.bytes += table.bytes();
}

// Each condition is in one of the lists, once.
void Predictor::load_lists(Reader& in, LoadContext const& context) {
    std::vector<bool> listed(conditions_.size(), false);
    std::size_t const hypotheses = static_cast<std::size_t>(in.number(conditions_.size(), "a number of hypotheses"));
    candidates_.clear();
    for (std::size_t i = 0; i < conditions_.size(); ++i) {
        auto const at = static_cast<std::uint32_t>(in.number(conditions_.size() - 1, "a condition's place"));
        if (listed[at]) throw ModelFileError("the model file has a condition in two places");
        listed[at] = true;
        (i < hypotheses ? hypotheses_ : candidates_).push_back(at);
    }
    context.memory.hypotheses += hypotheses;
    context.memory.candidates -= hypotheses;
    for (std::uint32_t const at : hypotheses_) {
        CaseTable const& table = conditions_[at].table;
        conditions_[at].interval = wilson_interval(table.successes(), table.total(), context.z);
    }
}

}  // namespace qora

// ---- the learner ----

std::vector<std::uint8_t> Qora::save() const {
    auto const lock = lock_.for_reading();
    Writer out;
    out.number(observations_);
    out.number(memory_.exhausted);
    out.number(predicates_.size());
    for (std::size_t p = 0; p < predicates_.size(); ++p) {
        Predicate const& each = predicates_[PredicateId(p)];
        out.number(each.group);
        out.number(each.attribute);
        out.number(each.relative);
        out.vector(each.value);
    }
    for (Rule const& rule : rules_) {
        out.number(rule.observations);
        if (rule.observations == 0) continue;
        out.vector(rule.first_effect);
        out.number(rule.predictor != nullptr);
        if (rule.predictor) rule.predictor->save(out, predicates_);
    }
    return out.take();
}

void Qora::load(std::span<std::uint8_t const> bytes) {
    auto const lock = lock_.for_writing();
    Reader in(bytes);
    observations_ = in.number(max_count, "a number of observations");
    memory_.exhausted = in.number(1, "a flag") != 0;
    load_predicates(in);
    for (std::size_t r = 0; r < rules_.size(); ++r) load_rule(in, SlotId(r / schema_->actions().size()), rules_[r]);
    if (!in.at_end()) throw ModelFileError("the model file has bytes left over after its last rule");
}

void Qora::load_predicates(Reader& in) {
    std::size_t const count = in.count("a number of predicates");
    for (std::size_t p = 0; p < count; ++p) {
        auto const group = static_cast<Group>(in.number(schema_->classes().size(), "a class"));
        AttributeId const attribute(static_cast<std::size_t>(in.number(schema_->attributes().size(), "an attribute")));
        bool const relative = in.number(1, "a flag") != 0;
        auto const belongs = [&] {
            return group == qora::target_alone ? !relative
                                               : schema_->find_slot(qora::class_of(group), attribute).has_value();
        };
        bool const possible = attribute < schema_->attributes().size() &&
                              qora::takes_part(schema_->attributes()[attribute], relative) && belongs();
        if (!possible) throw ModelFileError("the model file has a predicate on an attribute that cannot have one");
        Vector value = in.vector(schema_->attributes()[attribute].length);
        if (predicates_.find(group, attribute, relative, value))
            throw ModelFileError("the model file has a predicate twice");
        memory_.bytes += Predicates::bytes_of(value.size());
        predicates_.add({group, attribute, relative, std::move(value)});
    }
}

void Qora::load_rule(Reader& in, SlotId slot, Rule& rule) {
    rule.observations = in.number(max_count, "a count");
    if (rule.observations == 0) return;
    rule.first_effect = in.vector(schema_->length(slot));
    if (in.number(1, "a flag") == 0) return;
    rule.predictor = std::make_unique<qora::Predictor>(memory_);
    rule.predictor->load(in,
                         {*schema_, schema_->slots()[slot].class_id, schema_->length(slot), predicates_, z_, memory_});
    if (same(rule.predictor->effects().front(), rule.first_effect))
        throw ModelFileError("the model file has a predictor for a rule with one effect");
}

}  // namespace treethink
