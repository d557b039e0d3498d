% Rules of a world, learned by TreeThink and written as Prolog.
%
%   ?- set_state([object(50, player, [pos-[5, 2]]), object(51, wall, [pos-[6, 2]])]).
%   ?- predict(right, 50, pos, Chances).
%   Chances = [[5, 2]-1.0].
%
% Vectors are lists of integers, also those of length 1. Names of a category are atoms, as are the
% yes and no of a flag: [drink-[cola], open-[no]].
% Learned from 5000 observations.

:- encoding(utf8).
:- dynamic(object/2).
:- dynamic(value/3).
:- dynamic(class/2).
:- dynamic(outcomes/2).
:- dynamic(names/2).
:- dynamic(sum/3).
:- dynamic(action/1).
:- dynamic(frame/4).
:- dynamic(seen/5).

class(wall, [pos]).
class(player, [pos]).
outcomes(pos, differences).
action(left).
action(right).
action(up).
action(down).

% ---- asking ----

% The state to ask about: a list of object(Id, Class, [Attribute-Vector, ...]).
set_state(Objects) :-
    retractall(object(_, _)),
    retractall(value(_, _, _)),
    forall(member(object(X, Class, Values), Objects),
           ( assertz(object(X, Class)),
             forall(member(Attribute-Vector, Values), assertz(value(X, Attribute, Vector))) )).

% New vectors of one attribute of one object, each with its probability.
predict(Action, X, Attribute, Chances) :-
    action(Action),
    object(X, Class),
    class(Class, Attributes),
    member(Attribute, Attributes),
    outcomes(Attribute, _),
    value(X, Attribute, Now),
    chances(Class, Attribute, Action, X, Now, Chances).

% Without a rule, without counts, and without what outcomes are added to, it stays as it is.
chances(Class, Attribute, Action, X, Now, Chances) :-
    seen(Class, Attribute, Action, X, Counts),
    Counts \== [],
    frame_of(Class, Attribute, Action, Frame),
    reference(Frame, X, Now, Reference),
    is_known(Counts, Reference), !,
    counts_sum(Counts, 0, Total),
    findall(Next-N, ( member(Outcome-N, Counts), next(Outcome, Now, Reference, Next) ), All),
    merged(All, Merged),
    findall(Next-P, ( member(Next-N, Merged), P is N / float(Total) ), Chances).
chances(_, _, _, _, Now, [Now-1.0]).

% What the outcomes of a rule are added to; most rules have that of their attribute.
frame_of(Class, Attribute, Action, Frame) :- frame(Class, Attribute, Action, Frame), !.
frame_of(_, Attribute, _, Kind) :- outcomes(Attribute, Kind).

% Nothing, the value now, another attribute of X, one of the only object of a class, or the sum of
% the value now and one of these.
reference(values, _, _, nothing).
reference(differences, _, Now, Now).
reference(own(Attribute), X, _, Vector) :- value(X, Attribute, Vector).
reference(added(Frame), X, Now, Sum) :- reference(Frame, X, Now, By), changed(Now, By, Sum).
reference(copy(Class, Attribute), _, _, Vector) :-
    findall(Y, object(Y, Class), [Y]),
    told(Y, Attribute, Vector).
reference(jump(Frame), X, Now, jump(To)) :- reference(Frame, X, Now, To), !.
reference(jump(_), _, _, jump(nowhere)).

% A jump needs a place to jump to; what is a change does not.
is_known(Counts, jump(nowhere)) :- !, findall(N, member(jumps-N, Counts), []).
is_known(_, _).

counts_sum([], Total, Total).
counts_sum([_-N | Counts], Before, Total) :-
    Sum is Before + N,
    counts_sum(Counts, Sum, Total).

% Equal values count together.
merged([], []).
merged([Next-N | Rest], [Next-Sum | Merged]) :-
    same(Rest, Next, N, Sum, Others),
    merged(Others, Merged).

same([], _, Sum, Sum, []).
same([Next-N | Rest], Next, Before, Sum, Others) :- !,
    Now is Before + N,
    same(Rest, Next, Now, Sum, Others).
same([Pair | Rest], Next, Before, Sum, [Pair | Others]) :- same(Rest, Next, Before, Sum, Others).

next(stays, Now, _, Now) :- !.
next(jumps, _, jump(To), To) :- !.
next(Change, Now, jump(_), Next) :- !, changed(Now, Change, Next).
next(Next, _, nothing, Next) :- !.
next(Change, _, Reference, Next) :- changed(Reference, Change, Next).

changed([], [], []).
changed([A | As], [0 | Bs], [A | Cs]) :- !, changed(As, Bs, Cs).
changed([A | As], [B | Bs], [C | Cs]) :-
    C is A + B,
    fits(C),
    changed(As, Bs, Cs).

fits(N) :- N >= -9223372036854775808, N =< 9223372036854775807, !.
fits(N) :- throw(error(representation_error(int64_t), N)).

% ---- facts ----

equality(Attribute, X, Vector) :- value(X, Attribute, Vector).

difference(Attribute, X, Y, Vector) :- difference(Attribute, X, Attribute, Y, Vector).

difference(Attribute, X, Other, Y, Vector) :-
    told(X, Attribute, From),
    told(Y, Other, To),
    numbers(Attribute, From, Minus),
    numbers(Other, To, Plus),
    subtracted(Plus, Minus, Vector).

% The value of an attribute, or of the sum of two: where X will be if it takes a step.
told(X, Sum, Vector) :- sum(Sum, Place, Step), !,
    value(X, Place, From),
    value(X, Step, By),
    changed(From, By, Vector).
told(X, Attribute, Vector) :- value(X, Attribute, Vector).

threshold(Attribute, X, Most) :- value(X, Attribute, [Value]), Value =< Most.

% The same of one component of a vector, counted from 0.
threshold(Attribute, Component, X, Most) :-
    told(X, Attribute, Values),
    component(Component, Values, Value),
    Value =< Most.

component(0, [Value | _], Value) :- !.
component(N, [_ | Values], Value) :- Before is N - 1, component(Before, Values, Value).

% Any other object, of whatever class.
something(Attribute, X, Other, Vector) :-
    told(X, Attribute, From),
    value(Y, Other, To),
    X =\= Y,
    subtracted(To, From, Vector), !.

order(Attribute, X, Other, Y, Signs) :-
    value(X, Attribute, From),
    value(Y, Other, To),
    signs(From, To, Signs).

signs([], [], []).
signs([X | Xs], [Y | Ys], [Sign | Signs]) :- sign(X, Y, Sign), signs(Xs, Ys, Signs).

sign(X, Y, 1) :- X + 1 =< Y.
sign(X, Y, 0) :- X =< Y, Y =< X.
sign(X, Y, -1) :- Y + 1 =< X.

% The number of a name; other vectors as they are.
numbers(Attribute, [Name], [N]) :- names(Attribute, Names), !, place(Names, Name, 0, N).
numbers(_, Vector, Vector).

place([Name | _], Name, N, N) :- !.
place([_ | Names], Name, Before, N) :-
    Next is Before + 1,
    place(Names, Name, Next, N).

subtracted([], [], []).
subtracted([A | As], [B | Bs], [C | Cs]) :-
    C is A - B,
    subtracted(As, Bs, Cs).

% ---- tests, one after the other ----

% Each is Xs-Goal: the objects that tests have found so far, this one included, and what must be
% true of them. All ways in which it can be are kept, for the next test to choose from.
holds(Tests) :- holds([[]], Tests).

holds(_, []).
holds(Bindings, [Xs-Goal | Tests]) :-
    findall(Xs, ( member(Binding, Bindings), append(Binding, _, Xs), call(Goal) ), Found),
    Found \== [],
    kept(Found, Kept),
    holds(Kept, Tests).

% At most 4096: the first by the values of their objects, and by ids if equal.
kept(Found, Found) :- length(Found, N), N =< 4096, !.
kept(Found, Kept) :-
    findall(Order-Xs, ( member(Xs, Found), order(Xs, Order) ), Pairs),
    keysort(Pairs, Sorted),
    length(First, 4096),
    append(First, _, Sorted),
    findall(Xs, member(_-Xs, First), Kept).

order([], []).
order([X | Xs], [[Vectors, X] | Rest]) :-
    object(X, Class),
    class(Class, Attributes),
    findall(Numbers,
            ( member(Attribute, Attributes), value(X, Attribute, Vector),
              numbers(Attribute, Vector, Numbers) ),
            Vectors),
    order(Xs, Rest).

% ---- rules ----

% seen(Class, Attribute, Action, X0, Counts): the first that holds.

% wall.pos when left
seen(wall, pos, left, _, [[0, 0]-47918]).

% wall.pos when right
seen(wall, pos, right, _, [[0, 0]-47196]).

% wall.pos when up
seen(wall, pos, up, _, [[0, 0]-46892]).

% wall.pos when down
seen(wall, pos, down, _, [[0, 0]-47994]).

% player.pos when left
seen(player, pos, left, X0, [[0, 0]-509]) :-
    holds([
        [X1]-(object(X1, wall), difference(pos, X0, X1, [-1, 0]))
    ]), !.
seen(player, pos, left, _, [[-1, 0]-752]).

% player.pos when right
seen(player, pos, right, X0, [[0, 0]-495]) :-
    holds([
        [X1]-(object(X1, wall), difference(pos, X0, X1, [1, 0]))
    ]), !.
seen(player, pos, right, _, [[1, 0]-747]).

% player.pos when up
seen(player, pos, up, X0, [[0, 0]-475]) :-
    holds([
        [X1]-(object(X1, wall), difference(pos, X0, X1, [0, -1]))
    ]), !.
seen(player, pos, up, _, [[0, -1]-759]).

% player.pos when down
seen(player, pos, down, X0, [[0, 0]-515]) :-
    holds([
        [X1]-(object(X1, wall), difference(pos, X0, X1, [0, 1]))
    ]), !.
seen(player, pos, down, _, [[0, 1]-748]).
