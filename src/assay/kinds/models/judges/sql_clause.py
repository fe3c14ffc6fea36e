"""Checks a WHERE clause from an unknown author's golden set. Its syntax tree may name only listed things."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from assay.core.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TABLES = ("passages", "chunks")
LONGEST = 100_000  # characters of a clause

# Deterministic, and none makes much out of little: no clock, no chance, no repeat, lpad, range or lambda.
_FUNCTIONS = """
    ~~ !~~ ~~* !~~* ~~~ like_escape not_like_escape ilike_escape not_ilike_escape ^@ || + - * / // % ** ^ @ &
    | ~ << >> && @> <@ ->> lower upper lcase ucase length len strlen char_length character_length trim ltrim
    rtrim left right substr substring position strpos instr contains prefix suffix starts_with ends_with
    replace translate reverse concat concat_ws split_part string_split str_split split string_to_array
    strip_accents nfc_normalize ascii unicode ord regexp_matches regexp_full_match regexp_extract
    regexp_extract_all regexp_replace regexp_escape string_split_regex str_split_regex regexp_split_to_array
    abs ceil ceiling floor round trunc sign mod fmod fdiv power pow sqrt exp ln log log2 log10 greatest least
    isnan isinf isfinite even if ifnull nullif coalesce row list_value list_contains list_has array_contains
    array_has list_has_any list_has_all array_has_any array_has_all list_position array_length list_extract
    array_extract list_element list_slice array_slice list_distinct list_sort list_min list_max list_sum
    list_avg list_count cardinality unnest json_extract json_extract_string json_value json_array_length year
    month day hour minute second quarter week weekday weekofyear dayofweek isodow dayofmonth dayofyear
    dayname monthname decade century isoyear date_part datepart date_trunc datetrunc date_diff datediff
    date_sub datesub date_add last_day make_date strftime strptime try_strptime epoch to_years to_months
    to_weeks to_days to_hours to_minutes to_seconds count count_star count_if min max sum avg mean median
    stddev bool_and bool_or any_value arg_min arg_max min_by max_by quantile_cont quantile_disc row_number
    rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value
"""
_EXPRESSIONS = """
    COLUMN_REF CONSTANT FUNCTION OPERATOR COMPARISON CONJUNCTION BETWEEN CAST TYPE CASE COLLATE SUBQUERY
    WINDOW STAR
"""
_NODES = """
    SELECT_NODE SET_OPERATION_NODE BASE_TABLE JOIN SUBQUERY EMPTY ORDER_MODIFIER LIMIT_MODIFIER
    DISTINCT_MODIFIER ORDER_DEFAULT ASCENDING DESCENDING DECIMAL_TYPE_INFO LIST_TYPE_INFO
"""
# They look like columns; DuckDB reads them as functions if no column has the name.
_AMBIENT = """
    current_date current_time current_timestamp localtime localtimestamp current_user current_role
    session_user user current_catalog current_database current_schema
"""
FUNCTIONS, EXPRESSIONS, NODES, AMBIENT = (
    frozenset(names.split()) for names in (_FUNCTIONS, _EXPRESSIONS, _NODES, _AMBIENT)
)
READS = "A clause may compare columns of passages, with plain text, number, date and list functions."
LIKE = "Write what may follow WHERE, such as: lower(text) LIKE '%tea%'."
DEEP = "The clause is nested too deeply. Write it flat."

_WHERE = re.compile(r"(?>\s+|--[^\n]*\n|/\*.*?\*/)*+where\b", re.IGNORECASE | re.DOTALL)
LOWER_COLUMN = "\x01lower "  # before the name of a column, that of the column's text in lower case
_SELECT = "SELECT doc_id FROM passages WHERE "


class ClauseRefused(UsageError):
    """An error for a clause that was refused, or did not finish. It says what is wrong and what to write."""


def check_readable(clause: object) -> None:
    """Refuses a clause that is not SQL text at all, before the clause is parsed."""
    if not isinstance(clause, str) or not clause.strip():
        raise ClauseRefused(f"The clause is {clause!r:.40}, not SQL. {LIKE}")
    if len(clause) > LONGEST:
        raise ClauseRefused(f"The clause has {len(clause):,} characters; {LONGEST:,} are read. Shorten it.")
    try:
        clause.encode()
    except UnicodeEncodeError:
        raise ClauseRefused("The clause holds half a character. Save its file as UTF-8.") from None


def check_clause(connection: DuckDBPyConnection, clause: str) -> str:
    """Checks the whole syntax tree of the clause, and returns the clause as one condition in parentheses."""
    import duckdb

    if "\0" in clause:
        raise ClauseRefused("The clause holds a null character. Take it out.")
    clause = clause[found.end() :] if (found := _WHERE.match(clause)) else clause
    raw = clause.encode()
    ends = (at for at, _ in duckdb.tokenize(clause) if raw[at : at + 1] == b";")
    condition = f"({raw[: next(ends, None)].decode()}\n)"  # the new line ends a comment
    tree = syntax_tree(connection, _SELECT + condition)
    if tree != syntax_tree(connection, _SELECT + clause):
        raise ClauseRefused(f"The clause is more than one condition. {LIKE}")
    where, frame = _split_condition(tree)
    columns = {name.lower() for name in column_names(connection)}
    objections = (_objection(node, columns) for node in walk_nodes(where))
    if objection := next(filter(None, chain(objections, _row_references(where, columns))), None):
        raise ClauseRefused(f"The clause may not use {objection}")
    if frame != _split_condition(syntax_tree(connection, _SELECT + "true"))[1]:
        raise ClauseRefused(f"The clause says more than a condition. {LIKE}")
    return condition


def _split_condition(tree: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Returns the condition of the first statement, and the rest of the tree."""
    first, *rest = tree["statements"]
    node = {**first["node"], "where_clause": None}
    return first["node"].get("where_clause"), {**tree, "statements": [{**first, "node": node}, *rest]}


def syntax_tree(connection: DuckDBPyConnection, sql: str) -> dict[str, Any]:
    """Returns DuckDB's syntax tree of the statements, without positions in the text."""
    text = connection.execute("SELECT json_serialize_sql(?::VARCHAR)", [sql]).fetchall()[0][0]
    tree: dict[str, Any] = json.loads(text, object_hook=_without_places)
    if tree["error"] and "depth limit" in tree["error_message"]:
        raise ClauseRefused(DEEP)
    if tree["error"] and tree["error_type"] == "parser":
        raise ClauseRefused(
            f"The clause cannot be read as SQL: {shorten_message(tree['error_message'])}. {LIKE}"
        )
    if tree["error"]:
        raise ClauseRefused(f"The clause is more than one condition. {LIKE}")
    return tree


def _without_places(node: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in node.items() if not key.startswith("query_location")}


def walk_nodes(tree: Any) -> Iterator[dict[str, Any]]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
        waiting += node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()


def _objection(node: dict[str, Any], columns: set[str]) -> str | None:
    """Returns what a node of the tree has that a clause may not have. All that is not listed is refused."""
    kind, role = node.get("class"), node.get("type")
    if isinstance(kind, str) and kind not in EXPRESSIONS:
        return f"{_kind_words(kind)}. {READS}"
    if kind is None and isinstance(role, str) and role not in NODES:
        return f"{_kind_words(role)}. {READS}"
    if node.get("cte_map", {}).get("map"):
        return f"WITH. Write a subquery. {READS}"
    if node.get("sample") or node.get("at_clause"):
        return f"samples or versions of a table. {READS}"
    qualified = _is_qualified(node)
    if kind is None and role == "BASE_TABLE" and (qualified or node["table_name"].lower() not in TABLES):
        return f"the table {node['table_name']!r}. It may read passages, also called chunks."
    if kind in ("FUNCTION", "WINDOW") and (qualified or node["function_name"].lower() not in FUNCTIONS):
        near = did_you_mean(node["function_name"], FUNCTIONS)
        return f"the function {node['function_name']!r}. {near if near.startswith('Did') else READS}"
    if kind == "COLUMN_REF" and node["column_names"][0].lower() in AMBIENT - columns:
        return (
            f"{node['column_names'][0]!r}: labels may not change with the day or the user. Write the value."
        )
    return None


def _row_references(where: Any, columns: set[str]) -> Iterator[str]:
    """Yields objections to names that stand for all columns at once.

    Such names could read columns that were prepared for other clauses. SELECT * in a subquery is allowed,
    because it reads the tables of the subquery. SELECT name.* is refused, because the name may be that of the
    table outside the subquery.
    """
    listed = {
        id(each)
        for node in walk_nodes(where)
        for each in node.get("select_list", ())
        if each["class"] == "STAR" and not each["columns"] and not each["relation_name"]
    }
    for node in walk_nodes(where):
        if node.get("class") == "STAR" and id(node) not in listed:
            yield "a star or COLUMNS as a value. Name the columns."
        if node.get("class") == "COLUMN_REF" and node["column_names"][-1].lower() in set(TABLES) - columns:
            yield f"the table {node['column_names'][-1]!r} as a value. Name a column of it."


def _is_qualified(node: dict[str, Any]) -> bool:
    path = node.get("qualified_name", {}).get("path", ())
    return len(path) > 1 or any(node.get(key) for key in ("schema", "schema_name", "catalog", "catalog_name"))


def _kind_words(kind: str) -> str:
    return kind.lower().replace("_", " ").removesuffix(" ref") + "s"


def column_names(connection: DuckDBPyConnection) -> list[str]:
    """Returns the names of the columns that a clause may use."""
    return [name for (name, *_) in connection.execute("DESCRIBE passages").fetchall()]


def shorten_message(message: str) -> str:
    """Returns a short form of a message, because DuckDB quotes whole passages."""
    return (message if len(message) <= 200 else f"{message[:100]} … {message[-100:]}").rstrip(".!")


# ---------------------------------------------------------------- what many clauses work out again and again


def reuse_lower_columns(connection: DuckDBPyConnection, condition: str) -> tuple[str, set[str]]:
    """Replaces lower(column) in the condition by a prepared column, and returns the columns to prepare.

    The condition is not changed if DuckDB does not read the new condition back as it was written.
    """
    held: set[str] = set()
    try:
        tree = _replace_lower(syntax_tree(connection, _SELECT + condition), held)
    except RecursionError:
        return condition, set()
    if not held or any(name.startswith(LOWER_COLUMN) for name in column_names(connection)):
        return condition, set()
    written = connection.execute("SELECT json_deserialize_sql(?::JSON)", [json.dumps(tree)]).fetchall()[0][0]
    if not written.startswith(_SELECT) or syntax_tree(connection, written) != tree:
        return condition, set()
    return f"({written.removeprefix(_SELECT)})", held


def _replace_lower(node: Any, held: set[str]) -> Any:
    """Returns the tree with the calls replaced. Subqueries are not changed: they read tables of their own."""
    if isinstance(node, list):
        return [_replace_lower(each, held) for each in node]
    if not isinstance(node, dict) or node.get("class") == "SUBQUERY":
        return node
    if (column := _lower_argument(node)) is None:
        return {key: _replace_lower(value, held) for key, value in node.items()}
    held.add(column)
    name = {"class": "COLUMN_REF", "type": "COLUMN_REF", "column_names": [LOWER_COLUMN + column]}
    return {**name, "alias": node["alias"]}


def _lower_argument(node: dict[str, Any]) -> str | None:
    """Returns the column that a plain call of lower() gets, in lower case, or None for other nodes."""
    if node.get("class") != "FUNCTION" or node["function_name"].lower() != "lower":
        return None
    given = [each.get("expression") or {} for each in node.get("arguments", ())]
    names: list[str] = given[0].get("column_names", []) if len(given) == 1 else []
    special = node.get("filter") or node.get("distinct") or node.get("order_bys", {}).get("orders")
    return names[0].lower() if len(names) == 1 and not special else None
