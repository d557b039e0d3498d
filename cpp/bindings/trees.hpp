// trees.hpp - trees and their changes as plain Python data, and the ways to ask them.
#pragma once

#include "bindings/common.hpp"
#include "bindings/feedback.hpp"
#include "editing.hpp"
#include "snapshot.hpp"

namespace treethink::bindings {

/// The modes that Python names. Throw WrongType or UnknownName.
FactsMode facts_mode(nb::handle mode);
BindingsMode bindings_mode(nb::handle mode);

/// (transitions, seen, nodes), each node: (left, right, classes of variables, counts, test,
/// (pinned, written, given), what a pinned leaf has met).
/// Outcomes are tuples of numbers, of rules about feedback of one float or bool; None: the value stays; (): all that
/// are not told apart.
nb::tuple tree_tuple(Schema const& schema, TreeSnapshot const& tree, std::optional<FeedbackKind> kind = {});
/// The same for a rule of a model, and its frame (kind, class, attribute, whether it adds); None for feedback.
nb::tuple rule_tuple(Schema const& schema, TreeSnapshot const& tree, SlotId slot, std::optional<FeedbackKind> kind);
/// Nodes that were written by hand, each (test or None, [(outcome, times seen)]). Throws RuleError.
std::vector<HandWrittenNode> written_nodes(Schema const& schema, nb::handle nodes, std::optional<FeedbackKind> kind);
/// The candidates of each node: [{test: counts}]
nb::list candidates_list(Schema const& schema, TreeSnapshot const& tree, std::optional<FeedbackKind> kind = {});
/// (kind of decision, path, test, the node's number of variables)
nb::tuple event_tuple(Schema const& schema, std::vector<FactType> const& types, Event const& event);

}  // namespace treethink::bindings
