"""The page of the dashboard. Streamlit runs it as a script: `streamlit run app.py -- FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> None:
    """Shows the answer first, the evidence below it, and the provenance at the bottom."""
    import streamlit as st

    from assay.core.errors import DataError
    from assay.kinds.models.dashboard import comparison, overview
    from assay.kinds.models.dashboard.charts import ModelStyle, escape
    from assay.kinds.models.dashboard.tables import read_tables

    st.set_page_config(page_title="Assay: benchmark", layout="wide")
    try:
        tables = read_tables(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    except DataError as error:
        st.title("There is nothing to show", anchor=False)
        for problem in error.problems:
            st.error(escape(problem))
        return
    look = ModelStyle(tuple(tables.models), dark=st.context.theme.type == "dark")
    overview.show_answer(tables)
    overview.show_cards(tables, look)
    comparison.show_readings(tables, look)
    comparison.show_slices(tables, look)
    pair = comparison.choose_pair(tables)
    if pair is None:
        st.info("There is only one model. Add another to the study's systems to compare them.")
    else:
        comparison.show_pair(tables, pair, look)
    comparison.show_review(tables, look)
    comparison.show_latency(tables, look)
    if pair is not None:
        comparison.show_queries(tables, pair, look)
    overview.show_trust(tables)


if __name__ == "__main__":
    main()
